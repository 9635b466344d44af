#include "sdk/internal/ray_head.h"

#include "json/parse.h"
#include "net/client.h"
#include "net/proxy.h"

#include <utility>

namespace codeflare::sdk::internal {

namespace {

constexpr std::size_t kErrorBytesMax = std::size_t{4} << 20;

std::optional<Refusal> refusal_of(int status, const std::string& body) {
  if (!body.starts_with('{')) {
    return std::nullopt;
  }
  const Result<json::Document> document = json::parse(body);
  if (!document || document->root.string_or_empty("kind") != "Status") {
    return std::nullopt;
  }
  return Refusal{status, std::string(document->root.string_or_empty("message"))};
}

Result<std::unique_ptr<net::HttpService>> dial(Env env, net::Url url) {
  net::ClientOptions options;
  TRY_ASSIGN(options.proxy, net::proxy_for(url, env.variables));
  TRY_ASSIGN(std::unique_ptr<net::HttpClient> client,
             net::HttpClient::create(env, std::move(url), std::move(options)));
  return std::unique_ptr<net::HttpService>(std::move(client));
}

Result<net::Url> parse_address(const std::string& address) {
  Result<net::Url> url = net::parse_url(address);
  if (!url) {
    return fail(invalid_argument("address '" + address + "': " + url.error().message +
                                 "; expected a URL such as http://host:8265"));
  }
  return url;
}

std::string service_proxy(const std::string& cluster) {
  return "services/" + cluster + "-head-svc:dashboard/proxy";
}

}  // namespace

Task<Result<net::Response>> ProxyService::send(net::Request request) {
  refusal_.reset();
  const bool writes = request.method != "GET";
  CO_TRY_ASSIGN(net::Response response, co_await target_.send(std::move(request)));
  if (response.status < 400) {
    co_return response;
  }
  Result<std::string> text = co_await net::read_all(std::move(response.body), kErrorBytesMax);
  if (!text && text.error().code == ErrorCode::unavailable && writes) {
    // `unavailable` would promise that nothing was done.
    co_return fail(deadline_exceeded("the answer broke off"));
  }
  CO_TRY_ASSIGN(std::string body, std::move(text));
  refusal_ = refusal_of(response.status, body);
  response.body_size = body.size();
  response.body = net::body_of(std::move(body));
  co_return response;
}

Result<std::unique_ptr<RayHead>> RayHead::open(Env env, net::HttpService& api, JobTarget target,
                                               const JobsOptions& options) {
  std::unique_ptr<RayHead> head(new RayHead(std::move(target)));
  const JobTarget& to = head->target_;
  ray::ClientOptions client = options.client;
  net::HttpService* service = &api;
  if (to.address.empty()) {
    client.prefix = "/api/v1/namespaces/" + net::percent_encode(to.cluster.ns) + "/" +
                    service_proxy(net::percent_encode(to.cluster.name));
  } else {
    TRY_ASSIGN(net::Url url, parse_address(to.address));
    client.prefix = url.target.substr(0, url.target.find('?'));
    while (client.prefix.ends_with('/')) {
      client.prefix.pop_back();
    }
    TRY_ASSIGN(head->direct_,
               options.dial ? options.dial(std::move(url)) : dial(env, std::move(url)));
    service = head->direct_.get();
  }
  head->proxy_ = std::make_unique<ProxyService>(*service);
  head->client_ = std::make_unique<ray::Client>(env, *head->proxy_, std::move(client));
  return head;
}

std::string RayHead::way() const {
  return service_proxy(target_.cluster.name) + " of the API server";
}

}  // namespace codeflare::sdk::internal
