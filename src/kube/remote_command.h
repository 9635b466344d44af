#pragma once

#include "base/async/channel.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "model/gvk.h"
#include "net/byte_stream.h"
#include "net/descriptor_stream.h"
#include "net/http.h"

#include <string>
#include <vector>

namespace codeflare::kube {

struct RemoteCommand {
  model::ObjectKey pod;
  std::string container{};             // empty: the only one, or the pod's default
  std::vector<std::string> command{};  // empty: attach to the container's own program
  bool terminal = false;               // exec: make a terminal; attach: the container has one
};

// The caller's ends; null streams are not asked for. All outlive the call.
struct CommandStreams {
  // Its end ends the program's input if the server speaks v5; v4 has no word for it.
  net::ByteStream* input = nullptr;
  net::ByteStream* output = nullptr;
  net::ByteStream* error_output = nullptr;  // ignored with a terminal: it has one output
  // Sizes of the caller's terminal, the first one at once; a closed channel sends no more.
  Channel<net::TerminalSize>* sizes = nullptr;
};

// Runs a program in a container (exec) or attaches to its own program (attach) and carries bytes
// until the program ends. The result is the exit code; attach ends with 0. `service` leads to the
// API server with the caller's credentials. When the task is stopped, the connection closes and the
// program gets SIGHUP.
//   Channel<net::TerminalSize> sizes(4);
//   Result<int> code = co_await run_command(env, session.service(),
//       {.pod = {"default", "web-0"}, .command = {"sh"}, .terminal = true},
//       {.input = &in, .output = &out, .sizes = &sizes});
// `unavailable` when the connection broke before the server reported an end.
Task<Result<int>> run_command(Env env, net::HttpService& service, RemoteCommand command,
                              CommandStreams streams);

}  // namespace codeflare::kube
