#include "cli/simulate/policy.h"

#include "base/split.h"

#include <algorithm>

namespace codeflare::cli::simulate {

namespace {

// Longer than any trace, and added to any time of a simulation it does not overflow.
constexpr Duration kForEver = std::chrono::hours(24 * 365 * 30);

}  // namespace

Result<Policy> parse_policy(std::string_view text, Duration holding) {
  Policy policy{.name = std::string(text)};
  const Duration hold = holding > Duration::zero() ? std::min(holding, kForEver) : kForEver;
  for (const std::string_view word : split(text, '+')) {
    if (word == "fifo") {
      policy.holding = hold;
    } else if (word == "backfill") {
      policy.holding = hold;
      policy.backfill = true;
    } else if (word == "priority") {
      policy.priority = true;
    } else if (word == "preemption") {
      policy.priority = true;
      policy.preemption = true;
    } else if (word != "best-effort") {
      return fail(invalid_argument("policy \"" + std::string(word) +
                                   "\": expected best-effort, fifo, backfill, priority or "
                                   "preemption, or several joined by \"+\""));
    }
  }
  return policy;
}

Result<std::vector<Policy>> parse_policies(std::string_view text, Duration holding) {
  std::vector<Policy> policies;
  for (const std::string_view word : split(text, ',')) {
    TRY_ASSIGN(Policy policy, parse_policy(word, holding));
    policies.push_back(std::move(policy));
  }
  return policies;
}

sched::Options options_of(const Policy& policy) {
  return {.holding_time = policy.holding, .preemption = policy.preemption};
}

}  // namespace codeflare::cli::simulate
