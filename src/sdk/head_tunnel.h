#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/gvk.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <string>

namespace codeflare::sdk {

inline constexpr std::uint16_t kRayClientPort = 10001;
inline constexpr std::uint16_t kRayDashboardPort = 8265;

struct HeadTunnelOptions {
  std::uint16_t port = 0;     // on 127.0.0.1; 0: any
  bool any_if_taken = false;  // another port if that one is in use
  std::uint16_t head_port = kRayClientPort;
  // Called once with the local port.
  std::function<void(std::uint16_t port)> opened{};
  // Called for each connection that could not be carried.
  std::function<void(const Error& error)> broken{};
};

// Carries connections of a local port to a port of the head's pod, by the API server's
// port-forward, until the task is stopped, which is success. The head is looked up for each
// connection: one that was replaced serves the next connection. While a head is not ready,
// connections wait for up to 30 seconds. `api` leads to the API server; both services outlive the
// call.
Task<Result<void>> serve_head_port(Env env, net::HttpService& api, kube::Client& client,
                                   model::ObjectKey cluster, HeadTunnelOptions options);

}  // namespace codeflare::sdk
