#pragma once

#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "model/pod.h"
#include "net/http.h"
#include "net/upgrade.h"
#include "node/stream/channels.h"
#include "node/stream/pod_streams.h"
#include "node/stream/remote_command.h"
#include "node/stream/sandbox_view.h"
#include "node/stream/spdy_command.h"

#include <cstddef>
#include <string>
#include <vector>

namespace codeflare::node {

// The query of exec or attach.
struct CommandRequest {
  std::string container{};             // empty: the only one
  std::vector<std::string> command{};  // of exec
  CommandStreams streams{};
};

// exec, attach and port-forward of the pods of this node: agrees with the client on a protocol and
// answers with an upgrade. Errors before that are those that a kubelet gives, in its words. close()
// has to be awaited before destruction.
class StreamService {
 public:
  static constexpr std::size_t kSessionsMax = 512;

  StreamService(const SandboxViews& pods, PodStreams& streams) : pods_(pods), streams_(streams) {}

  Result<net::Response> exec(const model::Pod& pod, CommandRequest wanted,
                             const net::Request& request);
  Result<net::Response> attach(const model::Pod& pod, CommandRequest wanted,
                               const net::Request& request);
  // `ports` are of the query; clients that open streams name them there.
  Result<net::Response> port_forward(const model::Pod& pod, const std::vector<std::string>& ports,
                                     const net::Request& request);

  // Ends all connections and waits until nobody uses this any more.
  Task<void> close();
  // Upgrades that were answered and are not over.
  std::size_t sessions() const { return sessions_; }

 private:
  struct CountedSession;
  Result<std::string> running_container(const model::Pod& pod, const std::string& asked) const;
  Result<net::Response> upgrade_command(const net::Request& request, CommandRun run);
  // Counts the session as long as the answer lives, and ends it when the service closes.
  net::Body session(net::Takeover takeover);
  Task<void> run_session(net::Takeover takeover, net::ByteStream& connection);

  const SandboxViews& pods_;
  PodStreams& streams_;
  StopSource stopping_;
  std::size_t sessions_ = 0;
  WaitList idle_;
};

}  // namespace codeflare::node
