#include "node/agent/pod_http.h"

#include "net/client.h"
#include "net/upgrade.h"
#include "net/url.h"

#include <optional>
#include <string>
#include <utility>

namespace codeflare::node {

namespace {

// One of the requests that are counted, for as long as its answer lives.
class Counted {
 public:
  explicit Counted(std::shared_ptr<std::size_t> count) : count_(std::move(count)) { ++*count_; }
  Counted(Counted&&) = default;
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (count_ != nullptr) {
      --*count_;
    }
  }

 private:
  std::shared_ptr<std::size_t> count_;
};

class CountedBody final : public net::BodyStream {
 public:
  CountedBody(net::Body body, Counted counted)
      : counted_(std::move(counted)), body_(std::move(body)) {}
  Task<Result<Bytes>> read() override { return body_->read(); }
  std::optional<Bytes> ready() override { return body_->ready(); }

 private:
  Counted counted_;
  net::Body body_;
};

class CountedUpgrade final : public net::UpgradedBody {
 public:
  CountedUpgrade(net::Body body, net::UpgradedBody& upgraded, Counted counted)
      : counted_(std::move(counted)), body_(std::move(body)), upgraded_(upgraded) {}
  net::ByteStream& connection() override { return upgraded_.connection(); }

 private:
  Counted counted_;
  net::Body body_;
  net::UpgradedBody& upgraded_;
};

net::Body count_body(net::Body body, Counted counted) {
  if (auto* upgraded = dynamic_cast<net::UpgradedBody*>(body.get())) {
    return std::make_unique<CountedUpgrade>(std::move(body), *upgraded, std::move(counted));
  }
  return std::make_unique<CountedBody>(std::move(body), std::move(counted));
}

Task<Result<net::Response>> send_counted(std::unique_ptr<net::HttpClient> client,
                                         net::Request request, Counted counted) {
  CO_TRY_ASSIGN(net::Response response, co_await client->send(std::move(request)));
  if (response.body != nullptr) {
    response.body = count_body(std::move(response.body), std::move(counted));
  }
  co_return response;
}

}  // namespace

Task<Result<net::Response>> PodHttp::send(model::Pod pod, PodPort port, net::Request request) {
  if (*open_ >= kOpenMax) {
    co_return fail(resource_exhausted(std::to_string(*open_) + " requests to pods are open"));
  }
  if (pod.status.phase != "Running") {
    co_return fail(unavailable("pod " + pod.metadata.name + " is not running"));
  }
  net::ClientOptions options{.tls = {}, .proxy = {}, .user_agent = {}};
  options.tls.insecure = true;
  net::Url url{.scheme = port.tls ? "https" : "http", .host = "127.0.0.1", .port = port.number};
  if (network_ != nullptr && !pod.spec.host_network) {
    std::optional<std::string> address = network_->address_of(pod.metadata.uid);
    if (!address) {
      co_return fail(unavailable("pod " + pod.metadata.name + " has no address"));
    }
    url.host = *std::move(address);
    options.make_socket = [network = network_] { return network->socket(""); };
  }
  CO_TRY_ASSIGN(std::unique_ptr<net::HttpClient> client,
                net::HttpClient::create(env_, std::move(url), std::move(options)));
  Counted counted(open_);
  co_return co_await send_counted(std::move(client), std::move(request), std::move(counted));
}

}  // namespace codeflare::node
