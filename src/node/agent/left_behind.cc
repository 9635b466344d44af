#include "node/agent/left_behind.h"

#include "net/local_stream.h"
#include "node/agent/holder_network.h"
#include "node/agent/keeper_runtime.h"
#include "node/agent/pod_ending.h"
#include "node/agent/volume_writer.h"

#include <memory>
#include <utility>

namespace codeflare::node {

Task<Result<std::size_t>> end_left_behind(Env env, std::string directory, Logger logger) {
  const auto connect = [&loop = env.loop](const std::string& socket) {
    return net::connect_local(loop, socket);
  };
  // Neither starts anything: what they would start it with is not needed.
  const std::unique_ptr<VolumeWriter> volumes = make_volume_writer();
  KeeperRuntime pods(env, {.directory = directory, .program = {}, .logger = logger}, *volumes,
                     connect);
  HolderNetwork network(env,
                        {.directory = join_path(directory, "net"), .program = {}, .logger = logger},
                        call_holder, connect);
  Result<std::size_t> ended = co_await end_left_pods(env, pods);
  if (ended) {
    co_await network.shutdown();
  } else {
    co_await network.stop();
  }
  co_await pods.stop();
  co_return ended;
}

}  // namespace codeflare::node
