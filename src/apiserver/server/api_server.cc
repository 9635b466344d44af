#include "apiserver/server/api_server.h"

#include "apiserver/cel/rule_compiler.h"
#include "apiserver/crd/crd_controller.h"
#include "apiserver/housekeeping/housekeeping.h"
#include "apiserver/identity/certificate_admission.h"
#include "apiserver/identity/escalation_admission.h"
#include "apiserver/identity/openid_documents.h"
#include "apiserver/identity/pki.h"
#include "apiserver/identity/rbac_bootstrap.h"
#include "apiserver/identity/rbac_policy.h"
#include "apiserver/identity/rbac_sync.h"
#include "apiserver/identity/request_authenticator.h"
#include "apiserver/identity/service_account_admission.h"
#include "apiserver/identity/service_account_tokens.h"
#include "apiserver/identity/static_tokens.h"
#include "apiserver/identity/virtual_resources.h"
#include "apiserver/kinds/printers.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/openapi/handler.h"
#include "apiserver/registry/registry.h"
#include "apiserver/rest/api_service.h"
#include "apiserver/schema/builtin.h"
#include "apiserver/store/memory_log.h"
#include "apiserver/store/remedy.h"
#include "apiserver/store/sqlite_log.h"
#include "apiserver/store/store.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/when.h"
#include "json/parse.h"
#include "net/in_process.h"
#include "net/server.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr Duration kAdvertiseAgain = std::chrono::seconds(5);

// The server's own work runs under this name, with all rights.
net::Peer own_identity() {
  return {.address = "the server itself",
          .certificate = net::Peer::Certificate{.common_name = "system:apiserver",
                                                .organizations = {std::string(kAdminGroup)}}};
}

// Made when missing, and nobody else's from here on: also without a database there are keys and a
// kubeconfig in it. A log of the caller's own guards itself.
Result<std::unique_ptr<FileLock>> take_directory(Env env, const ApiServer::Options& options) {
  if (options.open_log) {
    TRY(env.files.make_directories(options.data_directory, 0700));
    return nullptr;
  }
  return lock_data_directory(env.files, options.data_directory);
}

bool is_everywhere(std::string_view address) {
  return address == "0.0.0.0" || address == "::";
}

// The address to dial from this machine for a server that listens at `address`, wildcards included.
std::string reachable(const std::string& address) {
  return address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
}

// The host of the kubeconfig's URL, which the certificate is for: the first name that clients were
// said to use, where the address alone names nobody.
std::string advertised_host(const std::string& address, const std::vector<std::string>& names) {
  if (is_everywhere(address)) {
    for (const std::string& name : names) {
      if (!name.empty() && !is_everywhere(name)) {
        return name;
      }
    }
  }
  return reachable(address);
}

Result<std::unique_ptr<Log>> open_log(Env env, const ApiServer::Options& options,
                                      std::unique_ptr<FileLock> lock) {
  if (options.open_log) {
    return options.open_log();
  }
  if (options.durability == Durability::memory) {
    return open_memory_log();
  }
  return open_sqlite_log(env.files,
                         {.directory = options.data_directory,
                          .durability = options.durability == Durability::full
                                            ? SqliteLogOptions::Durability::full
                                            : SqliteLogOptions::Durability::relaxed},
                         std::move(lock));
}

Result<StaticTokens> read_tokens(Env env, const std::string& path, const Logger& logger) {
  if (path.empty()) {
    return StaticTokens();
  }
  TRY_ASSIGN(std::string text, env.files.read(path));
  std::vector<std::string> warnings;
  TRY_ASSIGN(StaticTokens tokens, StaticTokens::parse(Secret(std::move(text)), path, &warnings));
  for (const std::string& warning : warnings) {
    logger.warn("token file", {{"warning", warning}});
  }
  return tokens;
}

Task<Result<net::Response>> answer_document(std::string_view type, std::string text) {
  co_return net::make_response(200, type, Bytes::from(std::move(text)));
}

Task<Error> remedied(Env env, Error error, std::string directory) {
  co_return co_await run_blocking(
      env, [&] { return with_remedy(std::move(error), env.files, directory); });
}

// The store with what must be in it before anybody can be answered.
Task<Result<std::unique_ptr<Store>>> open_store(Env env, const ApiServer::Options& options,
                                                std::unique_ptr<FileLock> lock, Logger logger,
                                                MetricsRegistry& metrics) {
  Result<std::unique_ptr<Log>> log =
      co_await run_blocking(env, [&] { return open_log(env, options, std::move(lock)); });
  if (!log) {
    co_return fail(co_await remedied(env, std::move(log).error(), options.data_directory));
  }
  Result<std::unique_ptr<Store>> store =
      co_await Store::open(env, *std::move(log), {}, logger, metrics);
  if (!store) {
    co_return fail(co_await remedied(env, std::move(store).error(), options.data_directory));
  }
  if (options.on_open) {
    options.on_open(**store);
  }
  Result<std::size_t> reconciled = co_await reconcile_bootstrap_objects(env, **store);
  if (!reconciled) {
    co_await (*store)->close();
    co_return fail(std::move(reconciled).error());
  }
  co_return std::move(store);
}

// The parts that identify users.
struct Credentials {
  std::unique_ptr<Pki> pki;
  StaticTokens tokens;
};

Task<Result<Credentials>> open_credentials(Env env, const ApiServer::Options& options,
                                           Logger logger) {
  CO_TRY_ASSIGN(StaticTokens tokens, co_await run_blocking(env, [&] {
                  return read_tokens(env, options.token_file, logger);
                }));
  CO_TRY_ASSIGN(std::unique_ptr<Pki> pki,
                co_await Pki::open(env,
                                   {.directory = join_path(options.data_directory, "pki"),
                                    .names = options.certificate_names},
                                   logger));
  co_return Credentials{std::move(pki), std::move(tokens)};
}

Duration slow_step(Env env, const ApiServer::Options& options) {
  if (options.slow_step > Duration::zero()) {
    return options.slow_step;
  }
  const std::string text = env.variables.get("CODEFLARE_SLOW_STEP_MS").value_or("");
  int milliseconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  return std::chrono::milliseconds(std::max(0, milliseconds));
}

}  // namespace

// In the order in which they come to be; what stands lower uses what stands higher.
struct ApiServer::Parts {
  Parts(Env env_in, Options options_in, Logger logger_in, std::unique_ptr<Store> store_in,
        std::unique_ptr<Pki> pki_in, StaticTokens static_tokens, MetricsRegistry& metrics)
      : env(env_in),
        options(std::move(options_in)),
        logger(std::move(logger_in)),
        store(std::move(store_in)),
        pki(std::move(pki_in)),
        kubeconfig(join_path(options.data_directory, "admin.kubeconfig")),
        tasks(env.loop),
        tokens(env, *store, pki->signing_key(), {}),
        authenticator(std::move(static_tokens), tokens),
        rbac(*store, policy, logger.with({{"part", "rbac"}})),
        accounts(*store, env.random),
        escalation(policy),
        certificates(policy),
        crds({.env = env,
              .store = *store,
              .registry = registry,
              .object_meta = schema::object_meta(),
              .rules = &cel,
              .logger = logger.with({{"part", "crds"}})}) {
    add_builtin_resources(
        registry, [this](std::string_view name) { return store->collection(name); },
        [this](Resource& resource) {
          resource.strategy = builtin_strategy(resource.group, resource.plural);
          for (ServedVersion& version : resource.versions) {
            version.printer = builtin_printer(resource.group, version.version, resource.plural);
          }
          crds.customize(resource);
        });
    crds.start();
    rules.emplace(env, *store, registry);
    std::vector<Admission*> admission = rules->all();
    // Accounts and their tokens before quota, which counts what the pod has become.
    admission.insert(admission.begin() + 1, {&accounts, &escalation, &certificates});
    if (options.more_admission) {
      more_rules = options.more_admission(policy, registry, *store);
    }
    for (const std::unique_ptr<Admission>& rule : more_rules) {
      admission.push_back(rule.get());
    }
    service.emplace(ApiService::Parts{.env = env,
                                      .store = *store,
                                      .registry = registry,
                                      .authenticator = authenticator,
                                      .authorizer = policy,
                                      .admission = std::move(admission),
                                      .connect = options.connect,
                                      .logger = logger,
                                      .metrics = metrics},
                    ApiService::Options{.in_flight_max = options.in_flight_max,
                                        .slow_step = slow_step(env, options)});
    for (VirtualRoute& route : identity_resources({.env = env,
                                                   .store = *store,
                                                   .policy = policy,
                                                   .authenticator = authenticator,
                                                   .tokens = tokens})) {
      service->add(route.group, route.resource, route.subresource, std::move(route.handler));
    }
    OpenApiHandler documents = make_openapi_handler(registry, [this](const std::string& name) {
      const CollectionId definitions =
          store->collection("customresourcedefinitions.apiextensions.k8s.io");
      const ObjectPtr definition = store->get(definitions, "", name);
      Result<json::Document> read =
          definition == nullptr ? json::Document() : json::parse(definition->json());
      return read ? *std::move(read) : json::Document();
    });
    service->add_path("/openapi/v2", documents);
    service->add_path("/openapi/v3", documents);
    service->add_path(std::string(kOpenidKeysPath), [this](const RequestInfo&, const auto&) {
      return answer_document(kOpenidKeysType, openid_keys(pki->signing_key()));
    });
    service->add_path(
        std::string(kOpenidConfigurationPath), [this](const RequestInfo&, const auto&) {
          return answer_document(
              kOpenidConfigurationType,
              openid_configuration(
                  {.issuer = tokens.issuer(), .keys_url = url + std::string(kOpenidKeysPath)}));
        });
    for (ServedGroup& group : options.more_groups) {
      service->add_group(std::move(group));
    }
    own_service.emplace(service->uncounted(), own_identity());
    housekeeping.emplace(
        env, logger, *store, registry, *rules, *own_service,
        Housekeeping::Options{.ca_pem = pki->authority_pem(),
                              .sign_client = [this](std::string_view request, Duration lifetime) {
                                return pki->sign_client(
                                    request, std::chrono::floor<std::chrono::seconds>(lifetime));
                              }});
  }

  Task<void> advertise_later(std::string address, std::uint16_t port) {
    while (co_await sleep_for(kAdvertiseAgain)) {
      if (co_await housekeeping->advertise(address, port)) {
        logger.info("the kubernetes Service is written");
        co_return;
      }
    }
  }

  Env env;
  Options options;
  Logger logger;
  std::unique_ptr<FileLock> lock{};  // of the directory, where the store holds none
  std::unique_ptr<Store> store;
  std::unique_ptr<Pki> pki;
  std::string kubeconfig;
  // Where the server is found: as pods see it until it listens somewhere.
  std::string url = "https://" + std::string(kServiceAddress);
  TaskGroup tasks;
  ServiceAccountTokens tokens;
  RequestAuthenticator authenticator;
  RbacPolicy policy;
  RbacSync rbac;
  ServiceAccountAdmission accounts;
  EscalationAdmission escalation;
  CertificateAdmission certificates;
  Registry registry;
  CelRuleCompiler cel;
  CrdController crds;
  std::optional<HousekeepingRules> rules;
  std::vector<std::unique_ptr<Admission>> more_rules;
  std::optional<ApiService> service;
  std::optional<net::InProcessService> own_service;
  std::optional<Housekeeping> housekeeping;
  std::optional<net::HttpServer> server;
};

ApiServer::ApiServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ApiServer::~ApiServer() = default;

Task<Result<std::unique_ptr<ApiServer>>> ApiServer::start(Env env, Options options, Logger logger,
                                                          MetricsRegistry& metrics) {
  // First of all: it guards everything else in the directory.
  CO_TRY_ASSIGN(std::unique_ptr<FileLock> lock,
                co_await run_blocking(env, [&] { return take_directory(env, options); }));
  // A database keeps the lock; without one the server itself does.
  std::unique_ptr<FileLock> own_lock;
  if (options.durability == Durability::memory) {
    own_lock = std::move(lock);
  }
  // Both wait for the disk again and again, so they do it together.
  Task<Result<std::unique_ptr<Store>>> opening =
      open_store(env, options, std::move(lock), logger, metrics);
  Task<Result<Credentials>> proving = open_credentials(env, options, logger);
  auto [store, credentials] = co_await when_both(std::move(opening), std::move(proving));
  if (!store) {
    co_return fail(std::move(store).error());
  }
  if (!credentials) {
    co_await (*store)->close();
    co_return fail(std::move(credentials).error());
  }
  auto parts =
      std::make_unique<Parts>(env, std::move(options), std::move(logger), *std::move(store),
                              std::move(credentials->pki), std::move(credentials->tokens), metrics);
  parts->lock = std::move(own_lock);
  std::unique_ptr<ApiServer> server(new ApiServer(std::move(parts)));
  server->parts_->tasks.spawn(server->parts_->rbac.run());
  Result<void> bootstrapped = co_await server->parts_->housekeeping->bootstrap();
  if (!bootstrapped) {
    co_await server->stop({});
    co_return fail(std::move(bootstrapped).error());
  }
  co_return server;
}

Task<Result<std::uint16_t>> ApiServer::listen(std::string address, std::uint16_t port) {
  Parts& parts = *parts_;
  if (!parts.server) {
    parts.server.emplace(parts.env, *parts.service,
                         net::ServerOptions{.tls = parts.pki->tls(),
                                            .connections_max = parts.options.connections_max});
    parts.tasks.spawn(parts.pki->keep_renewed([this](const net::TlsServerOptions& tls) {
      if (Result<void> reloaded = parts_->server->reload_tls(tls); !reloaded) {
        parts_->logger.error("the renewed certificate can't be used",
                             {{"error", reloaded.error().to_string()}});
      }
    }));
  }
  CO_TRY_ASSIGN(std::uint16_t bound, parts.server->listen(address, port));
  const std::string host = advertised_host(address, parts.options.certificate_names);
  const bool six = host.find(':') != std::string::npos;
  parts.url = "https://" + (six ? "[" + host + "]" : host) + ":" + std::to_string(bound);
  Task<Result<void>> advertising = parts.housekeeping->advertise(reachable(address), bound);
  Task<Result<void>> writing = parts.pki->write_admin_kubeconfig(parts.kubeconfig, parts.url);
  auto [advertised, written] = co_await when_both(std::move(advertising), std::move(writing));
  CO_TRY(std::move(written));
  if (!advertised && advertised.error().code == ErrorCode::unavailable) {
    // A full disk: stored objects can still be read.
    parts.logger.warn("the kubernetes Service cannot be written yet",
                      {{"error", advertised.error()}});
    parts.tasks.spawn(parts.advertise_later(reachable(address), bound));
    co_return bound;
  }
  CO_TRY(std::move(advertised));
  co_return bound;
}

Result<void> ApiServer::listen_on(FileDescriptor listener) {
  if (!parts_->server) {
    return fail(failed_precondition("the server does not listen yet"));
  }
  return parts_->server->listen_on(std::move(listener));
}

net::HttpService& ApiServer::service() {
  return parts_->service->uncounted();
}

const std::string& ApiServer::kubeconfig_path() const {
  return parts_->kubeconfig;
}

bool ApiServer::idle() const {
  return parts_->housekeeping->idle();
}

Task<void> ApiServer::stop(Duration grace) {
  Parts& parts = *parts_;
  // Watches end first: clients that drain would wait for them for the whole grace. Requests that
  // are under way are waited for by both; after the grace those behind the socket are given up.
  TaskGroup closing(parts.env.loop);
  closing.spawn(parts.service->close());
  co_await yield();
  if (parts.server) {
    co_await parts.server->drain(grace);
  }
  co_await closing.join();
  co_await parts.housekeeping->close();
  co_await parts.crds.close();
  co_await parts.tasks.close();
  co_await parts.store->close();
}

}  // namespace codeflare::apiserver
