#include "node/agent/probe_network.h"

#include "net/client.h"
#include "net/tcp_connect.h"
#include "net/url.h"

#include <utility>

namespace codeflare::node {

namespace {

constexpr int kRedirectsMax = 10;
constexpr int kFirstRedirect = 300;
constexpr int kFirstError = 400;

net::Url endpoint_of(const ProbeUrl& url) {
  net::Url endpoint;
  endpoint.scheme = url.tls ? "https" : "http";
  endpoint.host = url.host;
  endpoint.port = url.port;
  endpoint.target = url.target;
  return endpoint;
}

// Where an answer sends to, when that is the same host.
bool follow(ProbeUrl& url, std::string_view location) {
  if (location.starts_with('/') && !location.starts_with("//")) {
    url.target = location;
    return true;
  }
  const Result<net::Url> to = net::parse_url(location);
  if (!to || to->host != url.host) {
    return false;
  }
  url.tls = to->tls();
  url.port = to->port;
  url.target = to->target;
  return true;
}

class MachineNetwork final : public ProbeNetwork {
 public:
  MachineNetwork(Env env, PodSockets sockets) : env_(env), sockets_(std::move(sockets)) {}

  Task<Result<int>> get(ProbeUrl url, net::Headers headers) override {
    for (int turn = 0;; ++turn) {
      CO_TRY_ASSIGN(const net::Response answer, co_await get_once(url, headers));
      const bool redirects = answer.status >= kFirstRedirect && answer.status < kFirstError;
      const std::string location(answer.headers.get("Location").value_or(""));
      if (!redirects || location.empty() || !follow(url, location)) {
        co_return answer.status;
      }
      if (turn == kRedirectsMax) {
        co_return fail(failed_precondition("stopped after 10 redirects"));
      }
    }
  }

  Task<Result<void>> connect(ProbeUrl url) override {
    return net::tcp_connect(env_, std::move(url.host), url.port, sockets_for(url.network));
  }

 private:
  Task<Result<net::Response>> get_once(ProbeUrl url, net::Headers headers) {
    net::ClientOptions options{.tls = {}, .proxy = {}, .user_agent = "kube-probe/1.34"};
    options.tls.insecure = true;
    options.make_socket = sockets_for(url.network);
    CO_TRY_ASSIGN(const std::unique_ptr<net::HttpClient> client,
                  net::HttpClient::create(env_, endpoint_of(url), std::move(options)));
    net::Request request;
    request.target = url.target;
    request.headers = std::move(headers);
    if (!request.headers.has("Accept")) {
      request.headers.add("Accept", "*/*");
    }
    co_return co_await client->send(std::move(request));
  }

  std::function<Task<Result<FileDescriptor>>()> sockets_for(
      const std::optional<std::string>& network) const {
    if (!network) {
      return {};
    }
    return [this, uid = *network] { return sockets_ ? sockets_(uid) : no_socket(); };
  }

  static Task<Result<FileDescriptor>> no_socket() {
    co_return fail(unavailable("there is no pod network"));
  }

  Env env_;
  PodSockets sockets_;
};

}  // namespace

std::unique_ptr<ProbeNetwork> make_probe_network(Env env, PodSockets sockets) {
  return std::make_unique<MachineNetwork>(env, std::move(sockets));
}

}  // namespace codeflare::node
