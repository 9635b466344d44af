#include "kube/connect.h"

#include "kube/auth_service.h"
#include "kube/internal/config_blame.h"
#include "kube/internal/config_transport.h"
#include "kube/internal/config_url.h"
#include "net/client.h"
#include "net/proxy.h"

#include <optional>
#include <utility>

namespace codeflare::kube {

namespace {

class RealConnection final : public Connection {
 public:
  RealConnection(Env env, Config config, std::string host, std::shared_ptr<net::HttpClient> client,
                 AuthOptions auth_options, CredentialOptions credential_options,
                 internal::ConfigBlame blame)
      : config_(std::move(config)),
        host_(std::move(host)),
        source_(make_credential_source(env, config_, credential_options)),
        transport_(env, config_.tls, client,
                   [client](const net::TlsClientOptions& tls) { return client->reload_tls(tls); }),
        auth_(*source_, transport_, std::move(auth_options)),
        service_(auth_, std::move(blame)) {}

  net::HttpService& service() override { return service_; }
  const Config& config() const override { return config_; }
  const std::string& host() const override { return host_; }

 private:
  Config config_;
  std::string host_;
  std::unique_ptr<CredentialSource> source_;
  internal::ReloadingTransport transport_;
  AuthService auth_;
  internal::BlamingService service_;
};

// The one the kubeconfig names, else what the environment says for this server.
Result<std::optional<net::Url>> proxy_of(Env env, const Config& config, const net::Url& server) {
  if (config.proxy_url.empty()) {
    return net::proxy_for(server, env.variables);
  }
  TRY_ASSIGN(net::Url proxy, internal::parse_config_proxy(config.proxy_url.reveal()));
  return proxy;
}

// Compression saves the network and costs both ends time, so it makes no sense within a machine.
bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

Result<std::unique_ptr<Connection>> connect(Env env, Config config, ConnectOptions options) {
  Result<internal::ServerUrl> server = internal::parse_server_url(config.server, true);
  if (!server) {
    return fail(std::move(server).error().with_context("server"));
  }
  TRY(internal::check_tls(config));
  net::ClientOptions client_options;
  client_options.tls = internal::tls_options(config.tls);
  client_options.user_agent = options.user_agent;
  client_options.accept_gzip = !config.disable_compression && !is_loopback(server->endpoint.host);
  Result<std::optional<net::Url>> proxy = proxy_of(env, config, server->endpoint);
  if (!proxy) {
    return fail(std::move(proxy).error().with_context("proxy"));
  }
  internal::ConfigBlame blame(config, *proxy, server->endpoint.tls());
  client_options.proxy = *std::move(proxy);
  Result<std::unique_ptr<net::HttpClient>> client =
      net::HttpClient::create(env, server->endpoint, std::move(client_options));
  if (!client) {
    std::string context = config.source.empty() ? config.server : config.source;
    return fail(std::move(client).error().with_context(context));
  }
  AuthOptions auth_options;
  auth_options.impersonation = config.impersonation;
  auth_options.user_agent = options.user_agent;
  auth_options.target_prefix = server->prefix;
  return std::make_unique<RealConnection>(
      env, std::move(config), server->endpoint.host_and_port(), *std::move(client),
      std::move(auth_options), CredentialOptions{options.stdin_is_terminal}, std::move(blame));
}

}  // namespace codeflare::kube
