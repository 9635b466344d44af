#include "queue/internal/standing_of.h"

#include "queue/internal/lost_places.h"
#include "queue/marks.h"
#include "queue/report.h"
#include "queue/status_words.h"

namespace codeflare::queue {

namespace {

constexpr std::string_view kPreempted = "Preempted";
constexpr std::string_view kSuspended = "Suspended";
constexpr std::string_view kPlaceLost = "PlaceLost";
constexpr std::string_view kStopping = "Stopping";
constexpr std::string_view kHeld = "Held";
constexpr std::string_view kUserUnknown = "UserUnknown";

sched::Why why_of(const QueueState& state, const WrapperRecord& wrapper) {
  return state.core.why(wrapper.gang).value_or(sched::Why::nothing);
}

std::string_view waiting_word(const QueueState& state, const WrapperRecord& wrapper) {
  if (wrapper.suspended) {
    return kHeld;
  }
  if (!wrapper.user_known) {
    return kUserUnknown;
  }
  if (wrapper.not_before) {
    return kRetryLater;
  }
  return reason_word(why_of(state, wrapper));
}

// Empty: nothing asks it to stop.
std::string_view stop_word(const WrapperRecord& wrapper) {
  if (!wrapper.evicted_for.empty()) {
    return kPreempted;
  }
  if (wrapper.suspended) {
    return kSuspended;
  }
  if (wrapper.place_lost) {
    return kPlaceLost;
  }
  return wrapper.draining ? kStopping : "";
}

std::string lost_text(const WrapperRecord& wrapper) {
  std::string text = std::to_string(pods_lost(wrapper)) + " of its pods lost their place: node ";
  for (const model::PlannedPlace& place : wrapper.lost) {
    if (&place != &wrapper.lost.front()) {
      text += ", ";
    }
    text += place.node;
  }
  return text + (wrapper.lost.size() == 1 ? " is gone" : " are gone");
}

std::string message_of(const WrapperRecord& wrapper, std::string_view reason) {
  if (reason == kPreempted) {
    return "makes room for " + wrapper.evicted_for +
           (wrapper.evicted_cause == sched::EvictionCause::priority
                ? ", which has a higher priority"
                : ", which takes back the quota that was lent");
  }
  if (reason == kSuspended) {
    return "spec.suspend is true";
  }
  if (reason != kPlaceLost) {
    return "";
  }
  return wrapper.place_lost ? lost_text(wrapper) + ", and no other place fits" : lost_text(wrapper);
}

}  // namespace

Brief brief_of(const QueueState& state, const WrapperRecord& wrapper) {
  if (!wrapper.holds) {
    return {Standing::Kind::waiting, waiting_word(state, wrapper), 0};
  }
  if (const std::string_view stop = stop_word(wrapper); !stop.empty()) {
    return {Standing::Kind::stopping, stop, wrapper.plan_version};
  }
  return {Standing::Kind::started, wrapper.lost.empty() ? "" : kPlaceLost, wrapper.plan_version};
}

Standing standing_of(const QueueState& state, const WrapperRecord& wrapper) {
  const Brief brief = brief_of(state, wrapper);
  Standing standing{.kind = brief.kind, .reason = std::string(brief.reason)};
  if (!wrapper.holds) {
    standing.why = why_of(state, wrapper);
    standing.quota = standing.why == sched::Why::quota ||
                     standing.why == sched::Why::unknown_quota ||
                     state.core.awaits_quota(wrapper.gang);
    return standing;
  }
  standing.message = message_of(wrapper, brief.reason);
  standing.plan = wrapper.plan;
  standing.since = wrapper.since;
  standing.pods_lost = pods_lost(wrapper);
  return standing;
}

namespace {

std::string waiting_sentence(QueueState& state, const WrapperRecord& wrapper, Time now) {
  const Brief brief = brief_of(state, wrapper);
  if (brief.reason == kHeld) {
    return "held: spec.suspend is true; it may start when that is false";
  }
  if (brief.reason == kUserUnknown) {
    return "nobody is known to have submitted it: the annotation " + std::string(kUserAnnotation) +
           " is missing, or was not written by admission; create it again while admission is "
           "served, or run the controller with --no-user-check";
  }
  if (brief.reason == kRetryLater) {
    return "its items could not be created: tried again at " + to_rfc3339(*wrapper.not_before) +
           ", or when a ResourceQuota of its namespace changes";
  }
  auto explanation = state.core.explain(wrapper.gang, now, sched::Detail::brief);
  if (!explanation) {
    return "";
  }
  // The core has names of its own.
  if (explanation->reservation) {
    if (const auto holder = state.core.find(explanation->reservation->holder)) {
      explanation->reservation->holder = name_of(state, *holder);
    }
  }
  for (sched::Holder& each : explanation->awaited) {
    each.name = name_of(state, each.gang);
  }
  return sentence(*explanation);
}

}  // namespace

std::string sentence_of(QueueState& state, const WrapperRecord& wrapper, Time now) {
  if (wrapper.holds) {
    return message_of(wrapper, brief_of(state, wrapper).reason);
  }
  std::string text = waiting_sentence(state, wrapper, now);
  const std::string unheeded = unheeded_text(wrapper.demand);
  if (!text.empty() && !unheeded.empty()) {
    text += "; ";
  }
  return text + unheeded;
}

std::string name_of(const QueueState& state, sched::GangId gang) {
  if (const auto found = state.by_gang.find(gang); found != state.by_gang.end()) {
    const WrapperId& id = found->second->id;
    return id.key.to_string() +
           (id.legacy ? " of " + std::string(model::kLegacyAppWrapperGroup) : "");
  }
  if (const auto found = state.loose.find(gang); found != state.loose.end()) {
    return "pod " + found->second->key.to_string();
  }
  return state.core.name(gang);
}

}  // namespace codeflare::queue
