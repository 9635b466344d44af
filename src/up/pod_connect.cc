#include "up/pod_connect.h"

#include "controllers/fakenode/fake_nodes.h"
#include "json/parse.h"
#include "model/codec/pod.h"
#include "model/status.h"

#include <charconv>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::up {

namespace {

Error not_served(const std::string& what) {
  model::Status status;
  status.status = "Failure";
  status.code = 501;
  status.reason = "NotImplemented";
  status.message = what;
  return model::to_error(std::move(status));
}

Result<std::optional<std::int64_t>> number(const apiserver::Query& query, std::string_view name) {
  const auto text = query.get(name);
  if (!text) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 0) {
    return fail(invalid_argument(std::string(name) + ": must be a whole number, at least 0"));
  }
  return value;
}

std::vector<std::string> values(const apiserver::Query& query, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& [key, value] : query.all()) {
    if (key == name) {
      found.push_back(value);
    }
  }
  return found;
}

}  // namespace

Result<node::LogRequest> log_request(const apiserver::Query& query, WallTime now) {
  node::LogRequest request{.container = std::string(query.get("container").value_or("")),
                           .follow = query.flag("follow"),
                           .previous = query.flag("previous"),
                           .timestamps = query.flag("timestamps")};
  TRY_ASSIGN(request.tail_lines, number(query, "tailLines"));
  TRY_ASSIGN(request.limit_bytes, number(query, "limitBytes"));
  TRY_ASSIGN(const std::optional<std::int64_t> since, number(query, "sinceSeconds"));
  if (since) {
    request.since = now - std::chrono::seconds(*since);
  }
  if (const auto time = query.get("sinceTime")) {
    if (since) {
      return fail(
          invalid_argument("at most one of `sinceTime` or `sinceSeconds` may be specified"));
    }
    TRY_ASSIGN(request.since, parse_rfc3339(*time));
  }
  return request;
}

node::CommandRequest command_request(const apiserver::Query& query) {
  return {.container = std::string(query.get("container").value_or("")),
          .command = values(query, "command"),
          .streams = {.input = query.flag("stdin"),
                      .output = query.flag("stdout"),
                      .error_output = query.flag("stderr"),
                      .terminal = query.flag("tty")}};
}

Result<net::Response> PodConnect::open(const apiserver::RequestInfo& info, const model::Pod& pod,
                                       const net::Request& request) const {
  if (info.subresource == "exec" && services_.streams != nullptr) {
    return services_.streams->exec(pod, command_request(info.query), request);
  }
  if (info.subresource == "attach" && services_.streams != nullptr) {
    return services_.streams->attach(pod, command_request(info.query), request);
  }
  if (info.subresource == "portforward" && services_.streams != nullptr) {
    return services_.streams->port_forward(pod, values(info.query, "ports"), request);
  }
  if (info.subresource == "log" && services_.logs != nullptr) {
    TRY_ASSIGN(const node::LogRequest wanted, log_request(info.query, services_.logs->now()));
    TRY_ASSIGN(net::Body body, services_.logs->open(pod, wanted));
    net::Response response{.status = 200};
    response.headers.set("Content-Type", "text/plain");
    response.body = std::move(body);
    return response;
  }
  return fail(not_served("pods/" + info.subresource + " is not served here"));
}

std::string PodConnect::why_not(const model::Pod& pod, const std::string& subresource) const {
  if (pod.spec.node_name.starts_with(controllers::fakenode::kFakeNamePrefix)) {
    return "pod " + pod.metadata.name + " has no " + subresource + ": it is on the fake node " +
           pod.spec.node_name;
  }
  if (services_.logs == nullptr || nodes_.contains(pod.spec.node_name)) {
    return "";
  }
  return pod.spec.node_name.empty()
             ? "pod " + pod.metadata.name + " does not have a host assigned"
             : "node " + pod.spec.node_name + " does not serve pods/" + subresource;
}

Task<Result<net::Response>> PodConnect::connect(apiserver::User /*user*/,
                                                apiserver::RequestInfo info,
                                                apiserver::ObjectPtr pod, net::Request request) {
  CO_TRY_ASSIGN(const json::Document document, json::parse(pod->json()));
  CO_TRY_ASSIGN(const model::Pod object, model::from_json<model::Pod>(document.root));
  if (const std::string why = why_not(object, info.subresource); !why.empty()) {
    co_return fail(not_served(why));
  }
  co_return open(info, object, request);
}

Task<Result<net::Response>> PodConnect::proxy(apiserver::ProxyTarget target, net::Request request) {
  CO_TRY_ASSIGN(const json::Document document, json::parse(target.pod->json()));
  CO_TRY_ASSIGN(model::Pod pod, model::from_json<model::Pod>(document.root));
  if (const std::string why = why_not(pod, "proxy"); !why.empty()) {
    co_return fail(unavailable(why));
  }
  if (services_.http == nullptr) {
    co_return fail(unavailable("no node serves pods/proxy now"));
  }
  // Nothing of this is used once it has begun: the nodes may end before the request does.
  co_return co_await services_.http->send(
      std::move(pod), {.number = target.port, .tls = target.tls}, std::move(request));
}

}  // namespace codeflare::up
