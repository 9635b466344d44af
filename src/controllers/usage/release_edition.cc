#include "controllers/usage/release_edition.h"

#include "base/async/sleep.h"
#include "base/base64.h"
#include "controllers/usage/usage_push.h"
#include "model/resources.h"
#include "model/usage_ledger.h"
#include "net/client.h"
#include "net/proxy.h"
#include "net/url.h"
#include "usage/licence_record.h"

#include <utility>

namespace codeflare::controllers::metering {

namespace {

constexpr std::size_t kPasswordBytesMax = 64u << 10;
constexpr Duration kClusterIdPause = std::chrono::seconds(30);
constexpr Duration kHeadTimeout = std::chrono::seconds(30);

Result<std::unique_ptr<net::HttpService>> client_of(Env env, net::Url url) {
  net::ClientOptions options;
  options.head_timeout = kHeadTimeout;
  TRY_ASSIGN(options.proxy, net::proxy_for(url, env.variables));
  TRY_ASSIGN(std::unique_ptr<net::HttpClient> client,
             net::HttpClient::create(env, std::move(url), std::move(options)));
  return std::unique_ptr<net::HttpService>(std::move(client));
}

}  // namespace

ReleaseEdition::ReleaseEdition(Env env, ReleaseSettings settings, Logger logger,
                               MetricsRegistry& metrics)
    : env_(env), settings_(std::move(settings)), logger_(std::move(logger)), metrics_(metrics) {}

Result<std::unique_ptr<ReleaseEdition>> ReleaseEdition::create(Env env, ReleaseSettings settings,
                                                               Logger logger,
                                                               MetricsRegistry& metrics) {
  std::unique_ptr<ReleaseEdition> made(
      new ReleaseEdition(env, std::move(settings), std::move(logger), metrics));
  if (const std::string& url = made->settings_.licence_url; !url.empty()) {
    TRY_ASSIGN(net::Url parsed, net::parse_url(url));
    TRY_ASSIGN(made->licence_service_, client_of(env, std::move(parsed)));
  }
  if (const std::string& url = made->settings_.push_url; !url.empty()) {
    TRY_ASSIGN(net::Url parsed, net::parse_url(url));
    made->push_target_ = parsed.target;
    TRY_ASSIGN(made->push_service_, client_of(env, std::move(parsed)));
  }
  return made;
}

void ReleaseEdition::add_to(runtime::Manager& manager, std::function<void(std::string)> forbid) {
  keeper_ = std::make_unique<LicenceKeeper>(env_, manager.client(),
                                            LicenceOptions{.ns = settings_.ns,
                                                           .licence = settings_.licence,
                                                           .file = settings_.licence_file,
                                                           .ids = settings_.ids,
                                                           .public_key = settings_.public_key,
                                                           .service = licence_service_.get(),
                                                           .events = &manager.events(),
                                                           .metrics = &metrics_,
                                                           .forbid = std::move(forbid),
                                                           .logger = logger_});
  manager.add_work([this] { return keeper_->run(); });
  if (push_service_ != nullptr) {
    const runtime::Store& ledgers =
        manager.cache().informer(model::resource_type<model::UsageLedger>()).store();
    manager.add_work([this, &manager, &ledgers] { return push(manager.client(), ledgers); });
  }
}

Task<void> ReleaseEdition::push(kube::Client& client, const runtime::Store& ledgers) {
  Result<std::string> cluster = settings_.cluster;
  while (cluster && cluster->empty()) {
    cluster = co_await cluster_id(client);
    if (cluster) {
      break;
    }
    if (cluster.error().code == ErrorCode::cancelled) {
      co_return;
    }
    logger_.warn("usage is not pushed yet: the cluster has no id",
                 {{"error", cluster.error()}, {"instead", "--cluster-id"}});
    if (!co_await sleep_for(kClusterIdPause)) {
      co_return;
    }
    cluster = std::string();
  }
  const std::string customer = settings_.customer.empty() && !settings_.licence.empty()
                                   ? usage::licence_id(settings_.licence)
                                   : settings_.customer;
  PushOptions options{.identity = {.cluster = *cluster, .customer = customer},
                      .target = push_target_,
                      .every = settings_.push_every,
                      .authorization = [this] { return authorization(); },
                      .metrics = &metrics_,
                      .logger = logger_};
  co_await push_usage(env_, *push_service_, ledgers, std::move(options));
}

Task<Result<std::string>> ReleaseEdition::cluster_id(kube::Client& client) {
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await client.get(model::resource_type<model::Namespace>(), {"", "kube-system"}));
  co_return std::string(object->uid());
}

Result<Secret> ReleaseEdition::authorization() const {
  std::string password = settings_.push_password.reveal();
  if (!settings_.push_password_file.empty()) {
    TRY_ASSIGN(password, env_.files.read(settings_.push_password_file, kPasswordBytesMax));
    password.erase(password.find_last_not_of("\r\n") + 1);
  }
  if (password.empty()) {
    return Secret();
  }
  std::string header = settings_.push_user.empty()
                           ? "Bearer " + password
                           : "Basic " + to_base64(settings_.push_user + ":" + password);
  wipe(password);
  return Secret(std::move(header));
}

}  // namespace codeflare::controllers::metering
