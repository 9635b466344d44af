#pragma once

#include "base/time.h"
#include "model/app_wrapper.h"
#include "model/reason.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Words in a status that the queue reads beside the plan: words that the controller writes there,
// so that the next process knows what this one knew.
namespace codeflare::queue {

using model::Reason;

// The word of each reason in conditions, events and the command line, by its position in the enum.
// Some of MCAD's words end with a full stop.
struct ReasonWord {
  Reason reason;
  std::string_view word;
};
inline constexpr std::array<ReasonWord, static_cast<std::size_t>(Reason::withdrawn) + 1>
    kReasonWords{{
        {Reason::none, ""},
        {Reason::held, "Held"},
        {Reason::unknown_quota, "UnknownQuota"},
        {Reason::insufficient_quota, "InsufficientQuota"},
        {Reason::no_node_allowed, "NoNodeAllowed"},
        {Reason::insufficient_resources, "InsufficientResources"},
        {Reason::fragmented, "Fragmented"},
        {Reason::reserved, "Reserved"},
        {Reason::preempting, "Preempting"},
        {Reason::paused, "Paused"},
        {Reason::evaluating, "Evaluating"},
        {Reason::user_unknown, "UserUnknown"},
        {Reason::retry_later, "RetryLater"},
        {Reason::definition_outdated, "DefinitionOutdated"},
        {Reason::unlicensed, "Unlicensed"},
        {Reason::scaling_up, "ScalingUp"},
        {Reason::preempted, "Preempted"},
        {Reason::suspended, "Suspended"},
        {Reason::place_lost, "NodeGone"},
        {Reason::stopping, "Stopping"},
        {Reason::places_lost, "PlanLost"},
        {Reason::stopped, "Stopped"},
        {Reason::quota_exceeded, "QuotaExceeded"},
        {Reason::items_not_created, "ItemsNotCreated"},
        {Reason::min_pods_not_running, "MinPodsNotRunning"},
        {Reason::pods_not_created, "PodsNotCreated"},
        {Reason::pods_failed_scheduling, "PodsFailedScheduling"},
        {Reason::preemption_triggered, "PreemptionTriggered"},
        {Reason::cluster_refused, "ClusterRefused"},
        {Reason::cluster_busy, "ClusterBusy"},
        {Reason::cluster_drained, "ClusterDrained"},
        {Reason::awaiting_head_of_line, "AwaitingHeadOfLine"},
        {Reason::front_of_queue, "FrontOfQueue."},
        {Reason::app_wrapper_runnable, "AppWrapperRunnable"},
        {Reason::app_wrapper_not_runnable, "AppWrapperNotRunnable."},
        {Reason::quota_limit_exceeded, "quota limit exceeded"},
        {Reason::pods_running, "PodsRunning"},
        {Reason::some_items_completed, "SomeItemsCompleted"},
        {Reason::pods_completed, "PodsCompleted"},
        {Reason::dispatch_deadline_exceeded, "DispatchDeadlineExceeded"},
        {Reason::item_creation_failure, "ItemCreationFailure."},
        {Reason::item_failed, "ItemFailed."},
        {Reason::item_lost, "ItemLost."},
        {Reason::dispatched, "Dispatched"},
        {Reason::adopted, "Adopted"},
        {Reason::requeued_too_often, "RequeuedTooOften"},
        {Reason::failed, "Failed"},
        {Reason::abandoned, "Abandoned"},
        {Reason::completed, "Completed"},
        {Reason::deleted, "Deleted"},
        {Reason::pod_trouble, "PodTrouble"},
        {Reason::stuck, "Stuck"},
        {Reason::unreadable, "Unreadable"},
        {Reason::cluster_lost, "ClusterLost"},
        {Reason::withdrawn, "Withdrawn"},
    }};

// word() takes the reason as the index of its word.
consteval bool has_every_reason_in_order() {
  for (std::size_t i = 0; i < kReasonWords.size(); ++i) {
    if (static_cast<std::size_t>(kReasonWords[i].reason) != i) {
      return false;
    }
  }
  return true;
}
static_assert(has_every_reason_in_order());

constexpr std::string_view word(Reason reason) {
  return kReasonWords[static_cast<std::size_t>(reason)].word;
}

// Nothing for words that are not in the table.
constexpr std::optional<Reason> reason_of(std::string_view text) {
  for (const ReasonWord& each : kReasonWords) {
    if (each.word == text) {
      return each.reason;
    }
  }
  return std::nullopt;
}

// Whether the condition has this reason. Others than ours write reasons that are not in the table.
inline bool has_reason(const model::AppWrapperCondition& condition, Reason reason) {
  return condition.reason == word(reason);
}

// When one that waits may be tried again; nothing when it may be at any time. The wait grows with
// the number of requeuings.
std::optional<WallTime> not_before(const model::AppWrapperStatus& status);

// Its items were created and it has not ended, whatever canrun says.
bool state_is_running(const model::AppWrapperStatus& status);

// MCAD dispatched it, and it was not withdrawn since: its pods carry MCAD's labels alone.
bool is_from_mcad(const model::AppWrapperStatus& status);

// The label selector of its pods, in its namespace.
std::string pod_selector(const model::AppWrapper& wrapper);

}  // namespace codeflare::queue
