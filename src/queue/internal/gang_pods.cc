#include "queue/internal/gang_pods.h"

#include "queue/internal/amounts.h"
#include "queue/internal/lost_places.h"
#include "queue/internal/node_events.h"
#include "queue/kinds/pod_counts.h"
#include "queue/marks.h"
#include "sched/taints.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace codeflare::queue {

namespace {

constexpr std::uint32_t kNoSet = std::numeric_limits<std::uint32_t>::max();

// How many pods of the set will exist from now on.
std::int64_t needed(const WrapperRecord& wrapper, std::uint32_t pod_set) {
  const PodSetDemand& demand = wrapper.demand.pod_sets[pod_set];
  const std::int64_t total = demand.total.value_or(demand.pods.count);
  const std::int64_t left = std::max<std::int64_t>(0, total - wrapper.succeeded[pod_set]);
  const std::int64_t at_once = demand.pods.count - wrapper.fallen[pod_set];
  return std::clamp<std::int64_t>(at_once, 0, left);
}

std::int64_t all(const sched::Core::Held& held) {
  return held.reserved + held.bound + held.unplaced;
}

bool awaits_node(const PodRecord& pod) {
  return pod.phase == PodPhase::active && !pod.deleting && pod.place().empty();
}

bool is_beyond(const PodRecord& pod) {
  return (pod.counted == CountedAs::gang && !pod.planned) || pod.counted == CountedAs::loose ||
         (awaits_node(pod) && !pod.pod_set);
}

// Places of the set that no pod has, or whose pod is about to go: its successor may be there
// before.
std::int64_t places_left(const QueueState& state, const WrapperRecord& wrapper,
                         std::uint32_t pod_set) {
  const sched::Core::Held held = state.core.held(wrapper.gang, pod_set);
  return held.reserved + held.unplaced +
         std::ranges::count_if(wrapper.pods, [&](const PodRecord* pod) {
           return pod->counted == CountedAs::gang && pod->planned && pod->deleting &&
                  pod->pod_set == pod_set;
         });
}

// The last to come find no place; where we bind, those that found none already.
bool comes_first(const PodRecord* a, const PodRecord* b) {
  const auto rank = [](const PodRecord& pod) {
    return std::pair(pod.loose.has_value(), pod.created);
  };
  return rank(*a) != rank(*b) ? rank(*a) < rank(*b) : ByPodKey()(a, b);
}

bool is_remote(const std::string& node) {
  return node.contains('/');
}

// The queue of a worker cluster chooses itself which pod goes: the one that we chose takes the
// place of the one that went.
void swap_with_leaving(QueueState& state, WrapperRecord& wrapper) {
  model::PlannedPlace& told = wrapper.leaving.front();
  const auto chosen = std::ranges::find_if(wrapper.pods, [&](const PodRecord* each) {
    return each->counted == CountedAs::gang && each->planned && each->counted_at == told.node;
  });
  if (chosen == wrapper.pods.end()) {
    return;
  }
  PodRecord& stays = **chosen;
  (void)state.core.pod_ended(wrapper.gang, stays.uid, false);
  if (--told.count <= 0) {
    wrapper.leaving.erase(wrapper.leaving.begin());
  }
  enter_gang(state, wrapper, stays);
}

// The queue of a worker cluster may start the successor before the pod is gone: the place is the
// successor's, or both would count.
void give_to_unplanned(QueueState& state, WrapperRecord& wrapper) {
  const auto successor = std::ranges::find_if(wrapper.pods, [](const PodRecord* each) {
    return each->counted == CountedAs::gang && !each->planned && !each->deleting &&
           each->pod_set.has_value();
  });
  if (successor == wrapper.pods.end()) {
    return;
  }
  (void)state.core.pod_ended(wrapper.gang, (*successor)->uid, false);
  enter_gang(state, wrapper, **successor);
}

// A pod that has to go has no successor. The place of any other is kept: for a successor, or
// until the whole job has ended.
void leave_elastic(QueueState& state, WrapperRecord& wrapper, const PodRecord& pod) {
  const auto told = std::ranges::find(wrapper.leaving, pod.counted_at, &model::PlannedPlace::node);
  const bool leaves = pod.planned && told != wrapper.leaving.end();
  const bool replaced = pod.planned && !leaves;
  (void)state.core.pod_ended(wrapper.gang, pod.uid, replaced);
  if (leaves && --told->count <= 0) {
    wrapper.leaving.erase(told);
  } else if (replaced && !wrapper.leaving.empty() && is_remote(pod.counted_at)) {
    swap_with_leaving(state, wrapper);
  } else if (replaced && is_remote(pod.counted_at)) {
    give_to_unplanned(state, wrapper);
  }
  if (wrapper.leaving.empty()) {
    wrapper.shrinks_for.clear();
  }
  state.drifted.insert(wrapper.id.uid);
}

// Nothing can start on a node that is not ready or cordoned: the core finds other places.
void leave_closed_nodes(QueueState& state, const WrapperRecord& wrapper) {
  const auto slots = state.core.reserved(wrapper.gang);
  if (!slots) {
    return;
  }
  for (const sched::Slot& slot : *slots) {
    const auto node = state.nodes.find(state.core.node_name(slot.node));
    const sched::PodSet& pods = wrapper.demand.pod_sets[slot.pod_set].pods;
    if (node == state.nodes.end() || takes_new_pods(node->second) ||
        (node->second.ready && sched::tolerates(pods.tolerations, sched::cordon()))) {
      continue;
    }
    for (std::int64_t i = 0; i < slot.count; ++i) {
      (void)state.core.drop_place(wrapper.gang, slot.pod_set, slot.node);
    }
  }
}

// As the core has it, without the pods that have to go.
void mend_elastic(QueueState& state, WrapperRecord& wrapper) {
  leave_closed_nodes(state, wrapper);
  std::vector<model::PlannedPlace> places = places_of(state, wrapper);
  for (const model::PlannedPlace& gone : wrapper.leaving) {
    const auto at = std::ranges::find(places, gone.node, &model::PlannedPlace::node);
    if (at != places.end()) {
      at->count -= gone.count;
    }
  }
  std::erase_if(places, [](const model::PlannedPlace& place) { return place.count <= 0; });
  if (places == wrapper.plan) {
    return;
  }
  wrapper.plan = std::move(places);
  wrapper.plan_unwritten = true;
  ++wrapper.plan_version;
  state.touched.insert(wrapper.id.uid);
}

}  // namespace

std::optional<std::uint32_t> pod_set_in(const Demand& demand, const PodRecord& pod) {
  model::Pod shadow;
  if (!pod.set_label.empty()) {
    shadow.metadata.labels.emplace(kPodSetLabel, pod.set_label);
  }
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
  // Pods that we bind ourselves go where they were planned.
  if (!pod.node.empty() && (wrapper.elastic || state.options.binds != Binds::nothing)) {
    state.drifted.insert(wrapper.id.uid);
  }
  if (pod.pod_set) {
    trim_lost(state, wrapper, *pod.pod_set, pod.place());
  }
}

void leave_gang(QueueState& state, WrapperRecord& wrapper, PodRecord& pod) {
  pod.counted = CountedAs::nothing;
  if (wrapper.elastic) {
    leave_elastic(state, wrapper, pod);
    return;
  }
  if (!pod.planned || !pod.pod_set) {
    (void)state.core.pod_ended(wrapper.gang, pod.uid, false);
    return;
  }
  const std::int64_t others = all(state.core.held(wrapper.gang, *pod.pod_set)) - 1;
  // A wrapped Pod that has failed is the item itself: nobody makes another one.
  const bool is_item = wrapper.demand.pod_sets[*pod.pod_set].template_path == "";
  const bool last = is_item && pod.phase != PodPhase::active;
  const bool replaced = !last && others < needed(wrapper, *pod.pod_set);
  (void)state.core.pod_ended(wrapper.gang, pod.uid, replaced);
  if (replaced) {
    promote_unplanned(state, wrapper);
  }
}

void promote_unplanned(QueueState& state, WrapperRecord& wrapper) {
  // Pods beyond the plan of an elastic gang have to go.
  if (wrapper.elastic) {
    return;
  }
  for (PodRecord* pod : wrapper.pods) {
    if (pod->counted != CountedAs::gang || pod->planned || !pod->pod_set) {
      continue;
    }
    const sched::Core::Held held = state.core.held(wrapper.gang, *pod->pod_set);
    if (held.reserved + held.unplaced == 0) {
      continue;
    }
    (void)state.core.pod_ended(wrapper.gang, pod->uid, false);
    enter_gang(state, wrapper, *pod);
  }
}

std::vector<const PodRecord*> unplanned_pods(const QueueState& state,
                                             const WrapperRecord& wrapper) {
  std::vector<const PodRecord*> found;
  std::map<std::uint32_t, std::vector<const PodRecord*>> waiting;  // by pod set
  for (const PodRecord* pod : wrapper.pods) {
    if (is_beyond(*pod)) {
      found.push_back(pod);
    } else if (awaits_node(*pod)) {
      waiting[*pod->pod_set].push_back(pod);
    }
  }
  for (auto& [pod_set, pods] : waiting) {
    const std::int64_t left = places_left(state, wrapper, pod_set);
    if (std::cmp_less_equal(pods.size(), left)) {
      continue;
    }
    std::ranges::sort(pods, comes_first);
    found.insert(found.end(), pods.begin() + left, pods.end());
  }
  std::ranges::sort(found, ByPodKey());
  return found;
}

void give_back_place(QueueState& state, WrapperRecord& wrapper, PodRecord& pod) {
  (void)state.core.pod_ended(wrapper.gang, pod.uid, true);
  pod.counted = CountedAs::nothing;
}

void count_success(WrapperRecord& wrapper, PodRecord& pod) {
  if (pod.phase != PodPhase::succeeded || pod.success_counted || !pod.pod_set) {
    return;
  }
  pod.success_counted = true;
  ++wrapper.succeeded[*pod.pod_set];
}

void trim_places(QueueState& state, WrapperRecord& wrapper, const PodRecord& ended) {
  if (!ended.pod_set || ended.phase != PodPhase::succeeded || wrapper.elastic) {
    return;
  }
  const std::uint32_t pod_set = *ended.pod_set;
  std::optional<sched::NodeId> node = state.core.find_node(ended.node);
  if (all(state.core.held(wrapper.gang, pod_set)) > needed(wrapper, pod_set)) {
    (void)state.core.drop_place(wrapper.gang, pod_set, node);
  }
  trim_lost(state, wrapper, pod_set, ended.node);
}

bool item_seen(QueueState& state, WrapperRecord& wrapper, const json::Value& object) {
  if (!wrapper.holds || wrapper.elastic) {
    return false;
  }
  const json::Value* metadata = object.find("metadata");
  bool gave_up = false;
  for (std::uint32_t set = 0; set < wrapper.demand.pod_sets.size(); ++set) {
    const PodSetDemand& demand = wrapper.demand.pod_sets[set];
    const ItemInfo& item = wrapper.demand.items[demand.item];
    if (!demand.template_path || metadata == nullptr ||
        item.kind != object.string_or_empty("kind") ||
        item.key.name != metadata->string_or_empty("name")) {
      continue;
    }
    const std::optional<std::int64_t> now = pods_of_template(object, *demand.template_path);
    if (!now) {
      continue;
    }
    wrapper.fallen[set] = std::max<std::int64_t>(0, demand.in_template - *now);
    while (all(state.core.held(wrapper.gang, set)) > needed(wrapper, set) &&
           state.core.drop_place(wrapper.gang, set).value_or(false)) {
      gave_up = true;
    }
    trim_lost(state, wrapper, set, "");
  }
  return gave_up;
}

void mend_plans(QueueState& state) {
  for (const std::string& uid : std::exchange(state.drifted, {})) {
    WrapperRecord* wrapper = state.wrapper(uid);
    if (wrapper == nullptr || !wrapper->holds || wrapper->draining) {
      continue;
    }
    if (wrapper->elastic) {
      mend_elastic(state, *wrapper);
      continue;
    }
    std::vector<model::PlannedPlace> actual = places_of(state, *wrapper);
    const bool drifted = std::ranges::any_of(actual, [&](const model::PlannedPlace& place) {
      const auto planned = std::ranges::find_if(wrapper->plan, [&](const auto& each) {
        return each.pod_set == place.pod_set && each.node == place.node;
      });
      return planned == wrapper->plan.end() || planned->count < place.count;
    });
    if (!drifted) {
      continue;
    }
    wrapper->plan = std::move(actual);
    ++wrapper->plan_version;
    state.touched.insert(uid);
  }
}

}  // namespace codeflare::queue
