#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/secret.h"
#include "net/http.h"
#include "runtime/store.h"
#include "usage/remote_write.h"

#include <functional>
#include <map>
#include <string>

namespace codeflare::controllers::metering {

// Whose usage it is. Never the licence itself.
struct PushIdentity {
  std::string cluster{};
  std::string customer{};
};

// The counters of all ledgers, by namespace, queue and resource.
std::map<usage::Labels, double> usage_counters(const runtime::Store& ledgers,
                                               const PushIdentity& identity);

struct PushOptions {
  PushIdentity identity{};
  std::string target = "/api/v1/write";
  Duration every = std::chrono::minutes(1);
  // Value of the Authorization header, read before each push so that a new password counts.
  std::function<Result<Secret>()> authorization{};
  MetricsRegistry* metrics = nullptr;
  Logger logger{};
};

// Pushes them until stopped. Values that cannot be sent are sent later with newer ones: a gap costs
// resolution, never the total.
Task<void> push_usage(Env env, net::HttpService& http, const runtime::Store& ledgers,
                      PushOptions options);

}  // namespace codeflare::controllers::metering
