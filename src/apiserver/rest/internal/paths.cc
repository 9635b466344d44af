#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/response.h"
#include "json/write.h"

#include <algorithm>

namespace codeflare::apiserver::internal {
namespace {

// The version of Kubernetes whose API this is.
constexpr std::string_view kVersion = R"({
  "major": "1",
  "minor": "34",
  "emulationMajor": "1",
  "emulationMinor": "34",
  "minCompatibilityMajor": "1",
  "minCompatibilityMinor": "33",
  "gitVersion": "v1.34.4+codeflare",
  "gitCommit": "codeflare",
  "gitTreeState": "clean",
  "buildDate": "2026-01-01T00:00:00Z",
  "goVersion": "none",
  "compiler": "clang",
  "platform": "linux/amd64"
})";

net::Response text_response(int status, std::string text) {
  return net::make_response(status, "text/plain; charset=utf-8", Bytes::from(std::move(text)));
}

std::vector<HealthCheck> checks_of(Server& server, bool live_only) {
  std::vector<HealthCheck> checks;
  checks.push_back({.name = "ping", .check = [] { return Result<void>(); }});
  checks.push_back({.name = "store",
                    .check = [&server]() -> Result<void> {
                      if (std::optional<Error> why = server.store().degraded()) {
                        return fail(*std::move(why));
                      }
                      return {};
                    },
                    .ready_only = true});
  checks.push_back({.name = "shutdown",
                    .check = [&server]() -> Result<void> {
                      if (server.stopping.stop_requested()) {
                        return fail(unavailable("the server is shutting down"));
                      }
                      return {};
                    },
                    .ready_only = true});
  checks.insert(checks.end(), server.parts.health.begin(), server.parts.health.end());
  if (live_only) {
    std::erase_if(checks, [](const HealthCheck& check) { return check.ready_only; });
  }
  return checks;
}

// /readyz, /readyz/ping, /readyz?verbose&exclude=store
std::optional<net::Response> health(Call& call) {
  std::string_view path = call.info.path;
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  for (std::string_view name : {"healthz", "livez", "readyz"}) {
    if (!path.starts_with("/" + std::string(name))) {
      continue;
    }
    std::string_view rest = path.substr(name.size() + 1);
    std::vector<HealthCheck> checks = checks_of(call.server, name == "livez");
    if (!rest.empty()) {
      auto check = std::ranges::find_if(
          checks, [&](const HealthCheck& each) { return rest == "/" + each.name; });
      if (rest.front() != '/' || check == checks.end()) {
        return std::nullopt;
      }
      Result<void> result = check->check();
      return result ? text_response(200, "ok")
                    : text_response(500, "internal server error: " + result.error().message + "\n");
    }
    std::string lines;
    bool good = true;
    for (const HealthCheck& check : checks) {
      const auto& query = call.info.query.all();
      if (std::ranges::find(query, std::pair<std::string, std::string>("exclude", check.name)) !=
          query.end()) {
        lines += "[+]" + check.name + " excluded: ok\n";
        continue;
      }
      Result<void> result = check.check();
      good = good && result.has_value();
      lines += result ? "[+]" + check.name + " ok\n"
                      : "[-]" + check.name + " failed: " + result.error().message + "\n";
    }
    if (!good) {
      return text_response(500, lines + std::string(name) + " check failed\n");
    }
    if (call.info.query.get("verbose")) {
      return text_response(200, lines + std::string(name) + " check passed\n");
    }
    return text_response(200, "ok");
  }
  return std::nullopt;
}

net::Response root_paths(Call& call) {
  std::vector<std::string> paths = {"/api",   "/api/v1",  "/apis",   "/healthz",
                                    "/livez", "/metrics", "/readyz", "/version"};
  for (const Registry::Group& group : call.server.parts.registry.groups()) {
    if (!group.name.empty()) {
      paths.push_back("/apis/" + group.name);
      for (const std::string& version : group.versions) {
        paths.push_back("/apis/" + group.name + "/" + version);
      }
    }
  }
  for (const auto& [prefix, handler] : call.server.paths) {
    paths.push_back(prefix);
  }
  std::ranges::sort(paths);
  std::string out;
  json::Writer writer(out);
  writer.begin_object().key("paths").begin_array();
  for (const std::string& path : paths) {
    writer.string(path);
  }
  writer.end_array().end_object();
  return json_response(200, Bytes::from(std::move(out)));
}

const ApiService::PathHandler* longest_handler(Server& server, std::string_view path) {
  const std::pair<std::string, ApiService::PathHandler>* best = nullptr;
  for (const auto& entry : server.paths) {
    const std::string& prefix = entry.first;
    const bool under = path == prefix || (path.starts_with(prefix) && path[prefix.size()] == '/');
    if (under && (best == nullptr || best->first.size() < prefix.size())) {
      best = &entry;
    }
  }
  return best == nullptr ? nullptr : &best->second;
}

Result<net::Response> read_path(Call& call) {
  if (std::optional<net::Response> answer = health(call)) {
    return *std::move(answer);
  }
  if (std::optional<net::Response> answer =
          call.server.discovery.respond(call.server.parts.registry, call.info.path, call.request)) {
    return *std::move(answer);
  }
  if (call.info.path == "/version" || call.info.path == "/version/") {
    return json_response(200, Bytes::from_static(kVersion));
  }
  if (call.info.path == "/metrics") {
    return net::make_response(200, MetricsRegistry::kContentType,
                              Bytes::from(call.server.parts.metrics.expose()));
  }
  if (call.info.path == "/") {
    return root_paths(call);
  }
  return fail(no_such_path());
}

}  // namespace

bool is_health_path(std::string_view path) {
  for (std::string_view name : {"/healthz", "/livez", "/readyz"}) {
    if (path == name || (path.starts_with(name) && path[name.size()] == '/')) {
      return true;
    }
  }
  return false;
}

Task<Result<net::Response>> handle_path(Call& call) {
  if (const ApiService::PathHandler* handler = longest_handler(call.server, call.info.path)) {
    co_return co_await (*handler)(call.info, call.request);
  }
  Result<net::Response> read = read_path(call);
  if (read && call.request.method != "GET" && call.request.method != "HEAD") {
    co_return fail(method_not_allowed());
  }
  co_return read;
}

}  // namespace codeflare::apiserver::internal
