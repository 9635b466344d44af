#include "runtime/health_service.h"

#include <string_view>
#include <utility>

namespace codeflare::runtime {

namespace {

net::Response text(int status, std::string body) {
  return net::make_response(status, "text/plain; charset=utf-8", Bytes::from(std::move(body)));
}

}  // namespace

HealthService::HealthService(Answers answers) : answers_(std::move(answers)) {}

Task<Result<net::Response>> HealthService::send(net::Request request) {
  std::string_view path = request.target;
  path = path.substr(0, path.find('?'));
  if (request.method != "GET" && request.method != "HEAD") {
    co_return text(405, "only GET is served here\n");
  }
  if (path == "/healthz" || path == "/livez") {
    co_return text(200, "ok");
  }
  if (path == "/readyz") {
    std::string missing = answers_.why_not_ready ? answers_.why_not_ready() : std::string();
    if (!missing.empty()) {
      co_return text(503, "not ready: " + missing + "\n");
    }
    const std::string note = answers_.ready_note ? answers_.ready_note() : std::string();
    co_return text(200, note.empty() ? "ok" : "ok\n" + note + "\n");
  }
  if (path == "/metrics" && answers_.metrics) {
    co_return net::make_response(200, "text/plain; version=0.0.4; charset=utf-8",
                                 Bytes::from(answers_.metrics()));
  }
  co_return text(404, "there are /healthz, /livez, /readyz and /metrics\n");
}

}  // namespace codeflare::runtime
