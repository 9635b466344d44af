#include "up/kubelet_service.h"

#include "json/parse.h"
#include "json/write.h"
#include "kube/typed.h"
#include "model/codec/pod.h"
#include "net/url.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace codeflare::up {

namespace {

struct Path {
  std::string_view word;
  std::string_view subresource;
  bool has_container;
};
constexpr std::array kPaths = {
    Path{"containerLogs", "log", true},
    Path{"exec", "exec", true},
    Path{"attach", "attach", true},
    Path{"portForward", "portforward", false},
};

// A kubelet's parameters, by the names that the API server's clients use.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRenamed = {{
    {"input", "stdin"},
    {"output", "stdout"},
    {"error", "stderr"},
    {"port", "ports"},
}};

Result<std::vector<std::string>> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    TRY_ASSIGN(std::string part, net::percent_decode(path.substr(0, end)));
    parts.push_back(std::move(part));
    path.remove_prefix(end);
  }
  return parts;
}

std::string renamed(std::string_view name) {
  for (const auto& [kubelet, client] : kRenamed) {
    if (name == kubelet) {
      return std::string(client);
    }
  }
  return std::string(name);
}

int status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::invalid_argument:
      return 400;
    case ErrorCode::unauthenticated:
      return 401;
    case ErrorCode::permission_denied:
      return 403;
    default:
      return 500;
  }
}

std::string review_body(const net::Peer::Certificate& who, std::string_view verb,
                        std::string_view node) {
  std::string body;
  json::Writer w(body);
  w.begin_object()
      .member("apiVersion", "authorization.k8s.io/v1")
      .member("kind", "SubjectAccessReview");
  w.key("spec").begin_object().member("user", who.common_name);
  w.key("groups").begin_array();
  for (const std::string& group : who.organizations) {
    w.string(group);
  }
  w.string("system:authenticated").end_array();
  w.key("resourceAttributes").begin_object().member("verb", verb).member("resource", "nodes");
  w.member("subresource", "proxy").member("name", node).end_object();
  w.end_object().end_object();
  return body;
}

}  // namespace

Result<KubeletRequest> parse_kubelet_request(std::string_view target) {
  const std::size_t mark = target.find('?');
  TRY_ASSIGN(const std::vector<std::string> parts, parts_of(target.substr(0, mark)));
  for (const Path& path : kPaths) {
    if (parts.empty() || parts[0] != path.word ||
        parts.size() != (path.has_container ? std::size_t{4} : std::size_t{3})) {
      continue;
    }
    TRY_ASSIGN(const apiserver::Query given,
               apiserver::Query::parse(mark == std::string_view::npos ? std::string_view()
                                                                      : target.substr(mark + 1)));
    std::string query =
        path.has_container ? "container=" + net::percent_encode(parts[3]) : std::string();
    for (const auto& [name, value] : given.all()) {
      query += (query.empty() ? "" : "&") + renamed(name) + "=" + net::percent_encode(value);
    }
    KubeletRequest request{.pod = {parts[1], parts[2]}};
    request.info.subresource = path.subresource;
    TRY_ASSIGN(request.info.query, apiserver::Query::parse(query));
    return request;
  }
  return fail(not_found("404 page not found"));
}

Task<Result<void>> KubeletService::check_right(net::Peer::Certificate who, std::string method) {
  const std::string_view verb = method == "GET" ? "get" : "create";
  kube::Client::RawRequest review{.method = "POST",
                                  .target = "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                  .body = review_body(who, verb, node_)};
  CO_TRY_ASSIGN(const kube::Client::RawResponse answer, co_await client_.raw(std::move(review)));
  CO_TRY_ASSIGN(const json::Document document, json::parse(answer.body));
  const json::Value* status = document.root.find("status");
  const json::Value* allowed = status == nullptr ? nullptr : status->find("allowed");
  if (allowed == nullptr || !allowed->is_boolean() || !allowed->as_bool()) {
    co_return fail(permission_denied("Forbidden (user=" + who.common_name + ", verb=" +
                                     std::string(verb) + ", resource=nodes, subresource=proxy)"));
  }
  co_return Result<void>();
}

Task<Result<net::Response>> KubeletService::serve(net::Request request) {
  if (request.peer == nullptr || !request.peer->certificate || request.peer->foreign_certificate) {
    co_return fail(unauthenticated("Unauthorized"));
  }
  CO_TRY(co_await check_right(*request.peer->certificate, request.method));
  CO_TRY_ASSIGN(const KubeletRequest asked, parse_kubelet_request(request.target));
  const Result<model::Pod> pod =
      co_await kube::Api<model::Pod>(client_, asked.pod.ns).get(asked.pod.name);
  if (!pod && pod.error().code != ErrorCode::not_found) {
    co_return fail(pod.error());
  }
  if (!pod || pod->spec.node_name != node_) {
    co_return fail(not_found("pod \"" + asked.pod.name + "\" is not on this node"));
  }
  co_return pods_.open(asked.info, *pod, request);
}

Task<Result<net::Response>> KubeletService::send(net::Request request) {
  Result<net::Response> answer = co_await serve(std::move(request));
  if (answer || answer.error().code == ErrorCode::cancelled) {
    co_return answer;
  }
  co_return net::make_response(status_of(answer.error()), "text/plain; charset=utf-8",
                               Bytes::from(answer.error().message + "\n"));
}

}  // namespace codeflare::up
