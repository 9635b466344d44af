#include "queue/status_words.h"

#include "queue/marks.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace codeflare::queue {

namespace {

using model::AppWrapperCondition;
using model::AppWrapperStatus;
namespace state = model::app_wrapper_state;

constexpr std::int64_t kFirstWaitSeconds = 5;
constexpr std::int64_t kQuotaWaitSecondsMax = 300;
constexpr std::int64_t kItemsWaitSecondsMax = 3600;
constexpr std::int64_t kDoublingsMax = 10;

const AppWrapperCondition* newest(const AppWrapperStatus& status, std::string_view type) {
  const AppWrapperCondition* best = nullptr;
  for (const AppWrapperCondition& entry : status.conditions) {
    if (entry.type == type && entry.last_transition &&
        (best == nullptr || entry.last_transition->time >= best->last_transition->time)) {
      best = &entry;
    }
  }
  return best;
}

std::int64_t wait_seconds(const AppWrapperStatus& status, bool quota) {
  const std::int64_t doublings =
      std::clamp<std::int64_t>(status.number_of_requeueings - 1, 0, kDoublingsMax);
  const std::int64_t grown = kFirstWaitSeconds << doublings;
  if (quota) {
    return std::min(grown, kQuotaWaitSecondsMax);
  }
  // It held its places for the wait before this one: others have them as long.
  return std::clamp(status.requeueing_time_in_seconds, std::min(grown, kItemsWaitSecondsMax),
                    kItemsWaitSecondsMax);
}

}  // namespace

std::optional<WallTime> not_before(const AppWrapperStatus& status) {
  const AppWrapperCondition* cause = newest(status, "PreemptCandidate");
  if (status.plan || status.can_run || status.state != state::kPending || cause == nullptr) {
    return std::nullopt;
  }
  const bool quota = has_reason(*cause, Reason::quota_exceeded);
  if (!quota && !has_reason(*cause, Reason::items_not_created)) {
    return std::nullopt;
  }
  return cause->last_transition->time + std::chrono::seconds(wait_seconds(status, quota));
}

bool state_is_running(const AppWrapperStatus& status) {
  return status.state == state::kRunning || status.state == state::kRunningHoldCompletion;
}

bool is_from_mcad(const AppWrapperStatus& status) {
  if (status.plan) {
    return std::ranges::any_of(status.conditions, [](const AppWrapperCondition& entry) {
      return entry.type == "Queued" && has_reason(entry, Reason::adopted);
    });
  }
  return status.can_run && state_is_running(status);
}

std::string pod_selector(const model::AppWrapper& wrapper) {
  return is_from_mcad(wrapper.status) ? std::string(kMcadLabel) + "=" + wrapper.metadata.name
                                      : std::string(kUidLabel) + "=" + wrapper.metadata.uid;
}

}  // namespace codeflare::queue
