#pragma once

#include "base/time.h"
#include "model/app_wrapper.h"

#include <optional>
#include <string>
#include <string_view>

// What the queue reads in a status beside the plan: words that the controller writes there, so that
// the next process knows what this one knew.
namespace codeflare::queue {

// Reasons of PreemptCandidate after which it is not tried again at once.
inline constexpr std::string_view kQuotaExceeded = "QuotaExceeded";      // by a ResourceQuota
inline constexpr std::string_view kItemsNotCreated = "ItemsNotCreated";  // not in time
// Reason of Queued while it waits for that.
inline constexpr std::string_view kRetryLater = "RetryLater";
// Reason of Queued (False) as long as it holds what MCAD gave it.
inline constexpr std::string_view kAdopted = "Adopted";
// Reason of Queued (False) of what is Deleted.
inline constexpr std::string_view kRequeuedTooOften = "RequeuedTooOften";

// When one that waits may be tried again; nothing when it may be at any time. The wait grows with
// the number of requeuings.
std::optional<WallTime> not_before(const model::AppWrapperStatus& status);

// MCAD dispatched it, and it was not withdrawn since: its pods carry MCAD's labels alone.
bool is_from_mcad(const model::AppWrapperStatus& status);

// The label selector of its pods, in its namespace.
std::string pod_selector(const model::AppWrapper& wrapper);

}  // namespace codeflare::queue
