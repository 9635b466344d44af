#pragma once

#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "net/local_stream.h"
#include "node/agent/pod_network.h"
#include "node/wire/holder_call.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::node {

struct HolderNetworkOptions {
  std::string directory;  // the holder's own
  // What starts a holder, before the word "node-holder": usually this very program.
  std::string program;
  std::string block = "10.244.0.0/24";  // of this node's pods
  bool egress = false;                  // with a way out for them, while the agent lives
  Logger logger{};
};

// The pod network of a real holder. Starts one when there is none, also when it dies later on; it
// is then told again what it has to know. Its networks live on with it, not with this.
class HolderNetwork final : public PodNetwork {
 public:
  // Blocks; called off the loop.
  using Call = std::function<Result<HolderReply>(const std::string& socket, const HolderRequest&)>;
  using Connect =
      std::function<Result<std::unique_ptr<net::LocalStream>>(const std::string& socket)>;
  HolderNetwork(Env env, HolderNetworkOptions options, Call call, Connect connect);
  ~HolderNetwork() override;

  // Once, before anything else. `unsupported` when the system does not allow it.
  Task<Result<void>> start();
  // Lets go of the holder, which lives on. Has to be awaited before destruction, also after a
  // shutdown().
  Task<void> stop();
  // The holder is one that we started, and no pod has a network: nobody would miss it.
  bool is_needless() const { return launched_ && pods_.empty(); }

  std::string holder() const override;
  std::string nameserver() const override { return gateway_; }
  std::string way_out() const override;
  std::optional<std::string> address_of(const std::string& uid) const override;
  Task<Result<std::string>> attach(PodRecord pod) override;
  Task<Result<void>> detach(std::string uid) override;
  Task<Result<void>> keep(std::vector<std::string> uids) override;
  Task<Result<void>> set_service(ServiceRecord service) override;
  Task<Result<void>> forget_service(std::string key) override;
  Task<Result<void>> keep_services(std::vector<std::string> keys) override;
  Task<Result<FileDescriptor>> socket(std::string uid) override;
  Task<Result<FileDescriptor>> listen(std::string address, std::uint16_t port) override;
  Task<void> shutdown() override;

 private:
  Task<Result<HolderReply>> call(HolderRequest request);
  // The same, and when there is no holder once more with a new one.
  Task<Result<HolderReply>> ask(HolderRequest request);
  Task<Result<FileDescriptor>> ask_for_descriptor(HolderRequest request);
  Task<Result<void>> launch();
  Task<Result<void>> revive();
  Task<Result<void>> learn();
  // The same about services: as long as there is somebody to tell.
  Task<Result<void>> tell(HolderRequest request);
  // Sees to it that there is a holder, also while nobody asks.
  Task<void> watch();
  Task<void> keep_way_out();

  Env env_;
  HolderNetworkOptions options_;
  Call call_;
  Connect connect_;
  std::string gateway_;
  std::map<std::string, PodRecord> pods_;  // by UID
  std::map<std::string, ServiceRecord> services_;
  bool closed_ = false;    // nobody may start a holder any more
  bool launched_ = false;  // there was none before
  bool reviving_ = false;
  WaitList revived_;
  TaskGroup group_;
};

// Whether this system allows pods to have networks of their own; `unsupported` when it does not.
Task<Result<void>> probe_network(Env env, std::string program, std::string directory);

}  // namespace codeflare::node
