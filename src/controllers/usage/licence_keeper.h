#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/secret.h"
#include "kube/client.h"
#include "net/http.h"
#include "runtime/event_recorder.h"
#include "usage/licence.h"

#include <functional>
#include <string>

namespace codeflare::controllers::metering {

struct LicenceOptions {
  std::string ns{};  // of the UsageLedger `licence`, which keeps the record and the condition
  // A key, or the text of an offline licence. A file is read again for each check.
  Secret licence{};
  std::string file{};
  usage::LicenceIds ids{};
  std::string public_key{};             // of offline licences, 32 bytes
  net::HttpService* service = nullptr;  // that checks keys
  runtime::EventRecorder* events = nullptr;
  MetricsRegistry* metrics = nullptr;
  // Told why nothing may start; empty: starts are allowed.
  std::function<void(std::string)> forbid{};
  Logger logger{};
};

// Checks the licence of the release edition: at the start, then hourly with jitter. The record of
// earlier checks is read first, so a restart costs no grace. Running work is never touched.
class LicenceKeeper {
 public:
  LicenceKeeper(Env env, kube::Client& client, LicenceOptions options);

  // Until stopped.
  Task<void> run();
  // For /readyz: what is wrong with the licence; empty when nothing is.
  std::string note() const;
  const usage::LicenceStanding& standing() const { return standing_; }

 private:
  Task<Result<void>> check();
  Task<Result<usage::LicenceCheck>> ask(Secret licence);
  Task<Result<Secret>> read_licence();
  Task<Result<void>> load(Secret licence);
  Task<Result<void>> keep(Secret licence);
  std::string status_patch(const Secret& licence) const;
  void apply();
  Duration pause();

  Env env_;
  kube::Client& client_;
  LicenceOptions options_;
  usage::LicenceState state_;
  usage::LicenceStanding standing_;
  WallTime standing_since_{};
  bool loaded_ = false;
  bool told_ = false;  // the first standing
  std::string forbidden_;
  int failures_ = 0;  // unreachable checks in a row
};

}  // namespace codeflare::controllers::metering
