#include "queue/internal/gang_pods.h"

#include "queue/internal/amounts.h"
#include "queue/internal/lost_places.h"
#include "queue/marks.h"

#include <algorithm>
#include <limits>

namespace codeflare::queue {

namespace {

constexpr std::uint32_t kNoSet = std::numeric_limits<std::uint32_t>::max();

// How many pods of the set will exist from now on.
std::int64_t needed(const WrapperRecord& wrapper, std::uint32_t pod_set) {
  const PodSetDemand& demand = wrapper.demand.pod_sets[pod_set];
  const std::int64_t total = demand.total.value_or(demand.pods.count);
  const std::int64_t left = std::max<std::int64_t>(0, total - wrapper.succeeded[pod_set]);
  return std::min(demand.pods.count, left);
}

std::int64_t all(const sched::Core::Held& held) {
  return held.reserved + held.bound + held.unplaced;
}

// A pod beyond the plan takes the place that has become free: a rolling update is no growth.
void promote_one(QueueState& state, WrapperRecord& wrapper, std::uint32_t pod_set) {
  for (PodRecord* pod : wrapper.pods) {
    if (pod->counted != CountedAs::gang || pod->planned || pod->pod_set != pod_set) continue;
    (void)state.core.pod_ended(wrapper.gang, pod->uid, false);
    enter_gang(state, wrapper, *pod);
    return;
  }
}

}  // namespace

std::optional<std::uint32_t> pod_set_in(const Demand& demand, const PodRecord& pod) {
  model::Pod shadow;
  if (!pod.set_label.empty()) shadow.metadata.labels.emplace(kPodSetLabel, pod.set_label);
  sched::Resources requests = pod.requests;
  add(requests, {{"pods", 1}}, -1);
  model::Container container;
  container.resources.requests = to_resource_list(requests);
  shadow.spec.containers.push_back(std::move(container));
  const auto set = pod_set_of(demand, shadow);
  return set && *set < demand.pod_sets.size() ? set : std::nullopt;
}

void enter_gang(QueueState& state, WrapperRecord& wrapper, PodRecord& pod) {
  const auto planned = state.core.pod_bound(wrapper.gang, pod.uid, pod.pod_set.value_or(kNoSet),
                                            state.nodes[pod.place()].id, pod.requests,
                                            joined(pod.requests, pod.limits));
  pod.counted = planned ? CountedAs::gang : CountedAs::nothing;
  pod.counted_at = pod.place();
  pod.planned = planned && *planned;
  if (pod.pod_set) trim_lost(state, wrapper, *pod.pod_set);
}

void leave_gang(QueueState& state, WrapperRecord& wrapper, PodRecord& pod) {
  pod.counted = CountedAs::nothing;
  if (!pod.planned || !pod.pod_set) {
    (void)state.core.pod_ended(wrapper.gang, pod.uid, false);
    return;
  }
  const std::int64_t others = all(state.core.held(wrapper.gang, *pod.pod_set)) - 1;
  const bool replaced = others < needed(wrapper, *pod.pod_set);
  (void)state.core.pod_ended(wrapper.gang, pod.uid, replaced);
  if (replaced) promote_one(state, wrapper, *pod.pod_set);
}

void give_back_place(QueueState& state, WrapperRecord& wrapper, PodRecord& pod) {
  (void)state.core.pod_ended(wrapper.gang, pod.uid, true);
  pod.counted = CountedAs::nothing;
}

void count_success(WrapperRecord& wrapper, PodRecord& pod) {
  if (pod.phase != PodPhase::succeeded || pod.success_counted || !pod.pod_set) return;
  pod.success_counted = true;
  ++wrapper.succeeded[*pod.pod_set];
}

void trim_places(QueueState& state, WrapperRecord& wrapper, std::uint32_t pod_set) {
  while (all(state.core.held(wrapper.gang, pod_set)) > needed(wrapper, pod_set)) {
    const auto dropped = state.core.drop_place(wrapper.gang, pod_set);
    if (!dropped || !*dropped) break;
  }
  trim_lost(state, wrapper, pod_set);
}

}  // namespace codeflare::queue
