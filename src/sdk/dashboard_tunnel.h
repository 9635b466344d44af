#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "model/gvk.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <string>

namespace codeflare::sdk {

// The dashboard of a Ray cluster at the root of a server of its own: every request goes on to the
// API server's proxy of the head, with the credentials that `api` adds. Requests that do not name
// loopback as their host are rejected, so that no web page can reach the dashboard by a name of its
// own.
class DashboardTunnel final : public net::HttpService {
 public:
  // `api` leads to the API server and outlives this.
  DashboardTunnel(net::HttpService& api, const model::ObjectKey& cluster);

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  net::HttpService& api_;
  std::string prefix_;
};

struct TunnelOptions {
  std::uint16_t port = 0;     // on 127.0.0.1; 0: any
  bool any_if_taken = false;  // another port if that one is in use
  // Called once: "http://127.0.0.1:40312".
  std::function<void(const std::string& url)> opened{};
};

// Serves the dashboard of a cluster until the task is stopped, which is success.
Task<Result<void>> serve_dashboard(Env env, net::HttpService& api, model::ObjectKey cluster,
                                   TunnelOptions options);

}  // namespace codeflare::sdk
