#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>

namespace codeflare::node {

// `codeflare node-egress DIR`: an HTTP proxy at the gateway of the pod network whose holder's
// directory this is, by which pods reach the world outside, and also what is inside, for programs
// that use it for all they do; ends with the process that started it.
// Must be called before anything else in the process: it has to have one thread.
int node_egress_main(int count, char** arguments);

// `codeflare proxy`: an HTTP proxy on this machine that leads to pods and services. Says its
// address to `ready`, then serves until SIGINT or SIGTERM; one thread, as above. `holder` is the
// holder's socket, `address` an IPv4 address of this machine; port 0 takes any.
Result<void> serve_cluster_proxy(const std::string& holder, const std::string& address,
                                 std::uint16_t port,
                                 const std::function<void(std::uint16_t port)>& ready);

}  // namespace codeflare::node
