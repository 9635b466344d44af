#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/proxy_target.h"
#include "json/parse.h"
#include "net/forwarding.h"
#include "net/url.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace codeflare::apiserver::internal {
namespace {

// Segments of the path up to `proxy`: api, v1, namespaces, NAMESPACE, pods, NAME, proxy.
constexpr int kPrefixSegments = 7;

// A proxy's path as it was sent: escapes are the pod's business.
struct ProxyPath {
  std::string prefix;  // ends with "/proxy"
  std::string path;    // behind it; empty or beginning with '/'
  std::string query;   // with its '?', or empty
};

Result<ProxyPath> proxy_path(std::string_view target) {
  std::string_view path = net::split_target(target).path;
  const std::string_view query = target.substr(path.size());
  // One slash in front: two would begin a host where the prefix is a location.
  while (path.starts_with("//")) {
    path.remove_prefix(1);
  }
  std::size_t end = 0;
  for (int i = 0; i < kPrefixSegments; ++i) {
    end = std::min(path.find('/', end + 1), path.size());
  }
  const std::string_view prefix = path.substr(0, end);
  if (!prefix.starts_with("/api/") || !prefix.ends_with("/proxy")) {
    return fail(no_such_path());
  }
  return ProxyPath{.prefix = std::string(prefix),
                   .path = std::string(path.substr(end)),
                   .query = std::string(query)};
}

// The client's credentials were meant for this server.
void remove_credentials(net::Headers& headers) {
  constexpr std::string_view kImpersonate = "Impersonate-";
  std::vector<std::string> names = {"Authorization"};
  for (const net::Headers::Field& field : headers.fields()) {
    if (net::equal_ignoring_case(field.name.substr(0, kImpersonate.size()), kImpersonate)) {
      names.push_back(field.name);
    }
  }
  for (const std::string& name : names) {
    headers.remove(name);
  }
}

void add_forwarded(net::Headers& headers, const net::Peer* peer, const ProxyPath& path) {
  headers.set("X-Forwarded-Uri", path.prefix + path.path);
  if (peer == nullptr || peer->address.empty()) {
    return;
  }
  std::string client = peer->address.substr(0, peer->address.rfind(':'));
  if (client.starts_with('[') && client.ends_with(']')) {
    client = client.substr(1, client.size() - 2);
  }
  const std::string_view before = headers.get("X-Forwarded-For").value_or("");
  headers.set("X-Forwarded-For", before.empty() ? client : std::string(before) + ", " + client);
}

net::Request forwarded(net::Request request, const ProxyPath& path, bool upgrade) {
  request.target = (path.path.empty() ? "/" : path.path) + path.query;
  net::remove_hop_by_hop(request.headers, upgrade);
  remove_credentials(request.headers);
  add_forwarded(request.headers, request.peer.get(), path);
  // The client decides about the form of the pod's answer.
  if (!request.headers.has("Accept-Encoding")) {
    request.headers.set("Accept-Encoding", "identity");
  }
  request.peer = nullptr;
  return request;
}

// The pod's own address, as it may call itself.
std::string address_of(const ProxyTarget& target) {
  const Result<json::Document> pod = json::parse(target.pod->json());
  const json::Value* status = pod ? pod->root.find("status") : nullptr;
  const net::Url url{.scheme = target.tls ? "https" : "http",
                     .host = std::string(status ? status->string_or_empty("podIP") : ""),
                     .port = target.port};
  return url.host_and_port();
}

// Names of the pod: what the client calls it and its address.
struct OwnHosts {
  std::string asked;
  std::string address;
};

// A location of the pod as the client reaches it: below the proxy's own path. Locations of other
// hosts and relative ones are right already.
std::string rewritten_location(std::string_view location, const OwnHosts& own,
                               const ProxyPath& path) {
  std::string target(location);
  if (const Result<net::Url> url = net::parse_url(location)) {
    if (url->authority() != own.asked && url->host_and_port() != own.asked &&
        url->host_and_port() != own.address) {
      return target;
    }
    target = url->target;
  }
  if (!target.starts_with('/') || target.starts_with("//") ||
      target.starts_with(path.prefix + "/")) {
    return target;
  }
  return path.prefix + target;
}

// 503 invites clients to try again: a request that may have had an effect gets 504.
Error unreached(Error error) {
  const std::string why = "error trying to reach service: " + error.message;
  switch (error.code) {
    case ErrorCode::cancelled:
    case ErrorCode::invalid_argument:  // the client's body
      return error;
    case ErrorCode::unsupported:
      return not_implemented(error.message);
    case ErrorCode::deadline_exceeded:
      return deadline_exceeded(why);
    default:
      return service_unavailable(why);
  }
}

net::Response redirect_below(const ProxyPath& path) {
  net::Response response{.status = 301};
  response.headers.set("Location", path.prefix + "/" + path.query);
  return response;
}

}  // namespace

Task<Result<net::Response>> handle_proxy(Call& call) {
  if (call.info.verb == "watch") {
    co_return fail(no_such_path());  // the old prefix of watches
  }
  CO_TRY_ASSIGN(const ProxyPath path, proxy_path(call.request.target));
  CO_TRY_ASSIGN(const ProxyTarget target, proxy_target(call));
  const std::string method = call.request.method;
  const std::string host(call.header("Host").value_or(""));
  const bool upgrade = net::asks_for_upgrade(call.request.headers);
  // Else relative links of the answer would lead beside the proxy.
  if (path.path.empty() && !upgrade && (method == "GET" || method == "HEAD")) {
    co_return redirect_below(path);
  }
  net::Request request = forwarded(std::move(call.request), path, upgrade);
  Result<net::Response> answer =
      co_await call.server.parts.connect->proxy(target, std::move(request));
  if (!answer) {
    co_return fail(unreached(std::move(answer).error()));
  }
  const bool left_http = answer->status == 101;
  if (left_http && !upgrade) {
    co_return fail(service_unavailable(
        "error trying to reach service: it changed the protocol, which the request did not ask"));
  }
  net::remove_hop_by_hop(answer->headers, left_http);
  if (left_http) {
    co_return net::forward_upgrade(*std::move(answer));
  }
  if (const auto location = answer->headers.get("Location")) {
    const OwnHosts own{.asked = host, .address = address_of(target)};
    answer->headers.set("Location", rewritten_location(*location, own, path));
  }
  if (method == "HEAD" && answer->body == nullptr) {
    answer->body_size = net::announced_size(answer->headers);
  }
  co_return answer;
}

}  // namespace codeflare::apiserver::internal
