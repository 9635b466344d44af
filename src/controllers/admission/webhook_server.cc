#include "controllers/admission/webhook_server.h"

#include "apiserver/identity/pki.h"
#include "base/async/task_group.h"
#include "controllers/admission/webhook.h"
#include "controllers/admission/webhook_keys.h"
#include "net/listen_address.h"
#include "net/server.h"
#include "net/url.h"

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::admission {

namespace {

constexpr Duration kDrainGrace = std::chrono::seconds(10);

Result<model::ObjectKey> key_of(const std::string& option, const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return fail(invalid_argument(option + " \"" + text + "\": expected NAMESPACE/NAME"));
  }
  return model::ObjectKey{text.substr(0, slash), text.substr(slash + 1)};
}

Result<WebhookAddress> address_of(const WebhookServerOptions& options) {
  if (!options.url.empty()) {
    return WebhookAddress{.url = options.url};
  }
  TRY_ASSIGN(model::ObjectKey service, key_of("--webhook-service", options.service));
  return WebhookAddress{.service_ns = std::move(service.ns),
                        .service_name = std::move(service.name)};
}

// Names that the API server may call it by.
Result<std::vector<std::string>> names_of(const WebhookAddress& address) {
  if (!address.url.empty()) {
    TRY_ASSIGN(const net::Url url, net::parse_url(address.url));
    return std::vector<std::string>{url.host};
  }
  const std::string name = address.service_name + "." + address.service_ns + ".svc";
  return std::vector<std::string>{name, name + ".cluster.local"};
}

// With the key that lies beside the webhook's certificate.
class KeySeal final : public controllers::RecordSeal {
 public:
  explicit KeySeal(apiserver::SigningKey key) : key_(std::move(key)) {}
  std::string sign(std::string_view text) const override { return key_.sign(text); }
  bool verify(std::string_view text, std::string_view signature) const override {
    return key_.verify(text, signature);
  }

 private:
  apiserver::SigningKey key_;
};

// The webhook and another service on one port.
class Paths final : public net::HttpService {
 public:
  Paths(net::HttpService& webhook, net::HttpService* apis) : webhook_(webhook), apis_(apis) {}
  Task<Result<net::Response>> send(net::Request request) override {
    const bool other = apis_ != nullptr && request.target.starts_with("/apis/");
    return (other ? *apis_ : webhook_).send(std::move(request));
  }

 private:
  net::HttpService& webhook_;
  net::HttpService* apis_;
};

}  // namespace

struct WebhookServer::Parts {
  Parts(Env env, kube::Client& client, Logger logger_in, std::unique_ptr<apiserver::Pki> pki_in,
        const WebhookServerOptions& options)
      : logger(std::move(logger_in)),
        pki(std::move(pki_in)),
        seal(std::make_shared<KeySeal>(pki->signing_key())),
        webhook(env.clock, client, seal, logger),
        paths(webhook, options.apis),
        client_ca_pem(options.apis == nullptr ? "" : options.client_ca_pem),
        server(env, paths, {.tls = tls_only(), .connections_max = options.connections_max}),
        tasks(env.loop) {}

  // Clients of the webhook need no certificate: what they get to know is their own question's
  // answer. Those of `apis` show one.
  net::TlsServerOptions tls_only() const {
    net::TlsServerOptions tls = pki->tls();
    tls.client_ca_pem = client_ca_pem;
    return tls;
  }

  Logger logger;
  std::unique_ptr<apiserver::Pki> pki;
  std::shared_ptr<const controllers::RecordSeal> seal;
  Webhook webhook;
  Paths paths;
  std::string client_ca_pem;
  net::HttpServer server;
  std::uint16_t port = 0;
  TaskGroup tasks;
};

WebhookServer::WebhookServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
WebhookServer::~WebhookServer() = default;

Task<Result<std::unique_ptr<WebhookServer>>> WebhookServer::start(Env env, kube::Client& client,
                                                                  WebhookServerOptions options,
                                                                  Logger logger) {
  CO_TRY_ASSIGN(net::ListenAddress listen, net::parse_listen("--webhook-listen", options.listen));
  CO_TRY_ASSIGN(WebhookAddress address, address_of(options));
  CO_TRY_ASSIGN(std::vector<std::string> names, names_of(address));
  for (const std::string& name : options.more_names) {
    names.insert(names.end(), {name, name + ".cluster.local"});
  }
  if (!options.secret.empty()) {
    CO_TRY_ASSIGN(model::ObjectKey secret, key_of("--webhook-secret", options.secret));
    CO_TRY(co_await share_webhook_keys(env, client, options.directory, std::move(secret), logger));
  }
  CO_TRY_ASSIGN(std::unique_ptr<apiserver::Pki> pki,
                co_await apiserver::Pki::open(
                    env, {.directory = options.directory, .names = std::move(names)}, logger));
  const std::string authority = pki->authority_pem();
  auto parts = std::make_unique<Parts>(env, client, logger, std::move(pki), options);
  std::unique_ptr<WebhookServer> server(new WebhookServer(std::move(parts)));
  CO_TRY_ASSIGN(server->parts_->port, server->parts_->server.listen(listen.host, listen.port));
  server->parts_->tasks.spawn(
      server->parts_->pki->keep_renewed([parts = server->parts_.get()](const auto& /*tls*/) {
        if (Result<void> done = parts->server.reload_tls(parts->tls_only()); !done) {
          parts->logger.error("cannot use the renewed certificate", {{"error", done.error()}});
        }
      }));
  Result<void> registered =
      co_await register_webhook(client, {.address = address,
                                         .ca_pem = authority,
                                         .legacy_group = options.legacy_group,
                                         .chart_owned = !options.secret.empty()});
  if (!registered) {
    co_await server->stop();
    co_return fail(std::move(registered).error().with_context("registering the webhook"));
  }
  logger.info("admission webhook is registered",
              {{"listens", listen.text(server->port())},
               {"asked at", address.url.empty() ? options.service : address.url}});
  co_return server;
}

std::uint16_t WebhookServer::port() const {
  return parts_->port;
}

std::string WebhookServer::authority_pem() const {
  return parts_->pki->authority_pem();
}

std::shared_ptr<const controllers::RecordSeal> WebhookServer::seal() const {
  return parts_->seal;
}

Task<void> WebhookServer::stop() {
  co_await parts_->tasks.close();
  co_await parts_->server.drain(kDrainGrace);
}

}  // namespace codeflare::admission
