#include "sdk/dashboard_tunnel.h"

#include "base/async/sleep.h"
#include "net/forwarding.h"
#include "net/server.h"
#include "net/url.h"

#include <chrono>
#include <string_view>
#include <utility>

namespace codeflare::sdk {

namespace {

bool is_loopback(std::string_view host) {
  const std::string_view name = host.substr(0, host.rfind(':'));
  return name == "127.0.0.1" || name == "localhost";
}

// Browsers name the page that sends a request. Pages of the dashboard itself are at its own
// address; any other page would act with the rights of the user and with Ray's token.
bool is_foreign(const net::Headers& headers, std::string_view host) {
  const auto origin = headers.get("Origin");
  return origin && *origin != "http://" + std::string(host);
}

net::Response rejected(std::string sentence) {
  return net::make_response(403, "text/plain; charset=utf-8", Bytes::from(sentence + "\n"));
}

}  // namespace

DashboardTunnel::DashboardTunnel(net::HttpService& api, const model::ObjectKey& cluster,
                                 Secret token)
    : api_(api),
      prefix_("/api/v1/namespaces/" + net::percent_encode(cluster.ns) + "/services/" +
              net::percent_encode(cluster.name) + "-head-svc:dashboard/proxy"),
      token_(std::move(token)) {}

Task<Result<net::Response>> DashboardTunnel::send(net::Request request) {
  const std::string host(request.headers.get("Host").value_or(""));
  if (!is_loopback(host)) {
    co_return rejected("only requests to 127.0.0.1 or localhost are answered");
  }
  if (is_foreign(request.headers, host)) {
    co_return rejected("requests of web pages from other origins are rejected");
  }
  // An API server rewrites links of pages to its own paths: those lead here too.
  if (!request.target.starts_with(prefix_ + "/")) {
    request.target.insert(0, prefix_);
  }
  const bool head = request.method == "HEAD";
  const bool upgrade = net::asks_for_upgrade(request.headers);
  net::remove_hop_by_hop(request.headers, upgrade);
  request.headers.remove("Host");
  request.headers.remove("Authorization");
  if (!token_.empty()) {
    request.headers.set("X-Ray-Authorization", "Bearer " + token_.reveal());
  }
  if (!request.headers.has("Accept-Encoding")) {
    request.headers.set("Accept-Encoding", "identity");
  }
  request.peer = nullptr;
  CO_TRY_ASSIGN(net::Response answer, co_await api_.send(std::move(request)));
  const bool left_http = answer.status == 101;
  net::remove_hop_by_hop(answer.headers, left_http);
  if (left_http) {
    co_return net::forward_upgrade(std::move(answer));
  }
  if (const auto location = answer.headers.get("Location");
      location && location->starts_with(prefix_)) {
    const std::string path(location->substr(prefix_.size()));
    answer.headers.set("Location", path.empty() ? "/" : path);
  }
  if (head && answer.body == nullptr) {
    answer.body_size = net::announced_size(answer.headers);
  }
  co_return answer;
}

Task<Result<void>> serve_dashboard(Env env, net::HttpService& api, model::ObjectKey cluster,
                                   TunnelOptions options) {
  DashboardTunnel tunnel(api, cluster, std::move(options.token));
  net::HttpServer server(env, tunnel, {});
  Result<std::uint16_t> port = server.listen("127.0.0.1", options.port);
  if (!port && options.any_if_taken) {
    port = server.listen("127.0.0.1", 0);
  }
  if (port && options.opened) {
    options.opened("http://127.0.0.1:" + std::to_string(*port));
  }
  while (port && co_await sleep_for(std::chrono::hours(1))) {
  }
  co_await server.drain(Duration::zero());
  if (!port) {
    co_return fail(port.error());
  }
  co_return Result<void>();
}

}  // namespace codeflare::sdk
