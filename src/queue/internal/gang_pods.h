#pragma once

#include "queue/internal/state.h"

#include <cstdint>
#include <optional>
#include <vector>

// Pods of a started gang in its planned places, and beyond them.
namespace codeflare::queue {

std::optional<std::uint32_t> pod_set_in(const Demand& demand, const PodRecord& pod);

// The real requests on the real node replace a reserved place.
void enter_gang(QueueState& state, WrapperRecord& wrapper, PodRecord& pod);
// Its place is kept for a successor as long as the pod set needs that many.
void leave_gang(QueueState& state, WrapperRecord& wrapper, PodRecord& pod);
// Pods beyond the plan take places that have become free: a rolling update is not growth.
void promote_unplanned(QueueState& state, WrapperRecord& wrapper);
// Pods beyond the plan, by name: on nodes, and those without one for which no place is left.
std::vector<const PodRecord*> unplanned_pods(const QueueState& state, const WrapperRecord& wrapper);
// Back to where it was before it was handed out.
void give_back_place(QueueState& state, WrapperRecord& wrapper, PodRecord& pod);

void count_success(WrapperRecord& wrapper, PodRecord& pod);
// Gives up places whose pods will not come, first one where this pod has ended.
void trim_places(QueueState& state, WrapperRecord& wrapper, const PodRecord& ended);
// A wrapped object as it is now: places of pods that it does not want any more are given up as they
// become free, those that none has taken at once. Returns whether there were such.
bool item_seen(QueueState& state, WrapperRecord& wrapper, const json::Value& object);
// Where we bind, a plan that pods have left is made true again: a restart reads it.
void mend_plans(QueueState& state);

}  // namespace codeflare::queue
