#pragma once

#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/secret.h"
#include "controllers/usage/licence_keeper.h"
#include "net/http.h"
#include "runtime/manager.h"
#include "usage/licence.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

// The additions of the release edition: the licence check and the push of usage.
namespace codeflare::controllers::metering {

struct ReleaseSettings {
  Secret licence{};            // LATTICE_LICENSE: a key or the text of an offline licence
  std::string licence_file{};  // instead of it
  std::string licence_url{};   // of the service that checks keys; empty: offline licences alone
  usage::LicenceIds ids{};
  std::string public_key{};  // of offline licences, 32 bytes
  std::string ns{};          // of the record of the licence
  std::string push_url{};    // remote write; empty: nothing is pushed
  std::string push_user{};
  std::string push_password_file{};  // with a user: Basic, without: Bearer
  Secret push_password{};            // where there is no file
  std::string cluster{};             // empty: the UID of the namespace kube-system
  std::string customer{};            // empty: a hash of the licence
  Duration push_every = std::chrono::minutes(1);
};

class ReleaseEdition {
 public:
  // An error names what is wrong with a URL.
  static Result<std::unique_ptr<ReleaseEdition>> create(Env env, ReleaseSettings settings,
                                                        Logger logger, MetricsRegistry& metrics);
  // Before the manager runs; lives as long as it. `forbid` gets the reason why nothing may start.
  void add_to(runtime::Manager& manager, std::function<void(std::string)> forbid);
  // For /readyz; empty: nothing to say.
  std::string note() const { return keeper_ == nullptr ? "" : keeper_->note(); }

 private:
  ReleaseEdition(Env env, ReleaseSettings settings, Logger logger, MetricsRegistry& metrics);
  Task<void> push(kube::Client& client, const runtime::Store& ledgers);
  Task<Result<std::string>> cluster_id(kube::Client& client);
  Result<Secret> authorization() const;

  Env env_;
  ReleaseSettings settings_;
  Logger logger_;
  MetricsRegistry& metrics_;
  std::unique_ptr<net::HttpService> licence_service_;
  std::unique_ptr<net::HttpService> push_service_;
  std::string push_target_;
  std::unique_ptr<LicenceKeeper> keeper_;
};

}  // namespace codeflare::controllers::metering
