#pragma once

#include "base/time.h"
#include "model/app_wrapper.h"
#include "model/reason.h"

#include <string>
#include <string_view>

// The list of conditions of an AppWrapper as MCAD keeps it: a history in order of first occurrence,
// one entry per type and reason. Our own Queued is always the last entry.
namespace codeflare::controllers {

namespace condition {
inline constexpr std::string_view kInit = "Init";
inline constexpr std::string_view kQueueing = "Queueing";
inline constexpr std::string_view kHeadOfLine = "HeadOfLine";
inline constexpr std::string_view kBackoff = "Backoff";
inline constexpr std::string_view kDispatched = "Dispatched";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kPreemptCandidate = "PreemptCandidate";
inline constexpr std::string_view kRunningHoldCompletion = "RunningHoldCompletion";
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kQueued = "Queued";
}  // namespace condition

// The parts of a condition beside its type.
struct Words {
  model::Reason reason = model::Reason::none;
  std::string_view message{};
  std::string_view status = "True";
};

// Adds the entry, or brings the one of this type and reason up to date. The newest MCAD entry gives
// queuejobstate. Of Queued there is one entry, whatever its reason.
void touch(model::AppWrapperStatus& status, std::string_view type, const Words& words,
           WallTime now);

// The entry of this type that changed last; null when there is none.
const model::AppWrapperCondition* newest(const model::AppWrapperStatus& status,
                                         std::string_view type);
const model::AppWrapperCondition* find(const model::AppWrapperStatus& status, std::string_view type,
                                       model::Reason reason);

// When the entry was last touched; the beginning of time for none.
WallTime touched(const model::AppWrapperCondition* condition);
// When anything in the list last changed.
WallTime last_touched(const model::AppWrapperStatus& status);

}  // namespace codeflare::controllers
