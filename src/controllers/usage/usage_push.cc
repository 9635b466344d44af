#include "controllers/usage/usage_push.h"

#include "base/async/sleep.h"
#include "json/value.h"
#include "usage/ledger.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::controllers::metering {

namespace {

constexpr const char* kMetric = "codeflare_usage_unit_seconds_total";
constexpr Duration kBackoffMin = std::chrono::seconds(1);
constexpr Duration kBackoffMax = std::chrono::minutes(1);
constexpr Duration kSendWithin = std::chrono::seconds(30);

void add(const runtime::ObjectRef& object, const PushIdentity& identity,
         std::map<usage::Labels, double>& counters) {
  const Result<json::Document> document = object->parse();
  const json::Value* status = document ? document->root.find("status") : nullptr;
  const Result<usage::Ledger> ledger =
      status == nullptr ? Result<usage::Ledger>(usage::Ledger()) : usage::read_ledger(*status);
  if (!ledger) {
    return;  // another version's: its namespace counts again when it can be read
  }
  for (const auto& [account, unit_seconds] : ledger->totals) {
    usage::Labels labels = {
        {"__name__", kMetric},           {"cluster", identity.cluster},
        {"customer", identity.customer}, {"namespace", std::string(object->ns())},
        {"queue", account.queue},        {"resource", account.resource}};
    std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
    counters[std::move(labels)] = static_cast<double>(unit_seconds);
  }
}

// The controller's own metrics about the push.
class PushMetrics {
 public:
  explicit PushMetrics(MetricsRegistry* metrics) : metrics_(metrics) {}

  void sent(const usage::SendResult& result) {
    if (metrics_ == nullptr) {
      return;
    }
    metrics_->counter("codeflare_usage_pushed_samples_total", "Samples that the endpoint took.")
        .add(static_cast<double>(result.sent));
    metrics_
        ->counter("codeflare_usage_dropped_samples_total",
                  "Samples that the endpoint rejected; newer ones of the series follow.")
        .add(static_cast<double>(result.dropped));
  }

 private:
  MetricsRegistry* metrics_;
};

Task<Result<usage::SendResult>> push_once(usage::RemoteWriter& writer, PushOptions& options,
                                          std::map<usage::Labels, double> counters) {
  if (options.authorization) {
    CO_TRY_ASSIGN(Secret secret, options.authorization());
    writer.set_authorization(std::move(secret));
  }
  co_return co_await with_timeout(kSendWithin, "push usage", writer.send(std::move(counters)));
}

}  // namespace

std::map<usage::Labels, double> usage_counters(const runtime::Store& ledgers,
                                               const PushIdentity& identity) {
  std::map<usage::Labels, double> counters;
  for (const runtime::ObjectRef& object : ledgers.list()) {
    if (object->name() == usage::kLedgerName) {
      add(object, identity, counters);
    }
  }
  return counters;
}

Task<void> push_usage(Env env, net::HttpService& http, const runtime::Store& ledgers,
                      PushOptions options) {
  usage::RemoteWriter writer(env, http, {.target = options.target});
  PushMetrics push_metrics(options.metrics);
  Duration backoff = kBackoffMin;
  std::string last_error;
  for (;;) {
    const Result<usage::SendResult> done =
        co_await push_once(writer, options, usage_counters(ledgers, options.identity));
    if (!done && done.error().code == ErrorCode::cancelled) {
      co_return;
    }
    const bool again = !done || done->retry;
    std::string error = done ? done->last_error : done.error().message;
    if (done) {
      push_metrics.sent(*done);
    }
    if (error != last_error && !error.empty()) {
      options.logger.warn("usage was not pushed in full", {{"error", error}, {"again", again}});
    }
    last_error = std::move(error);
    Duration pause = options.every;
    if (again) {
      pause = std::max(backoff, done ? done->retry_after : Duration::zero());
      backoff = std::min(backoff * 2, kBackoffMax);
    } else {
      backoff = kBackoffMin;
    }
    if (!co_await sleep_for(pause)) {
      co_return;
    }
  }
}

}  // namespace codeflare::controllers::metering
