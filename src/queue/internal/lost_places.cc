#include "queue/internal/lost_places.h"

#include "model/managed_cluster.h"
#include "queue/internal/gang_pods.h"
#include "queue/machines.h"

#include <algorithm>
#include <tuple>

namespace codeflare::queue {

namespace {

std::vector<std::int64_t> lost_by_set(const WrapperRecord& wrapper) {
  std::vector<std::int64_t> counts(wrapper.demand.pod_sets.size());
  for (const model::PlannedPlace& place : wrapper.lost) {
    counts[static_cast<std::size_t>(place.pod_set)] += place.count;
  }
  return counts;
}

void add_place(std::vector<model::PlannedPlace>& places, const model::PlannedPlace& more) {
  const auto same = std::ranges::find_if(places, [&](const model::PlannedPlace& each) {
    return each.pod_set == more.pod_set && each.node == more.node;
  });
  if (same == places.end()) {
    places.push_back(more);
  } else {
    same->count += more.count;
  }
  std::erase_if(places, [](const model::PlannedPlace& each) { return each.count <= 0; });
}

void settle_lost(QueueState& state, WrapperRecord& wrapper) {
  if (wrapper.lost.empty()) {
    state.displaced.erase(wrapper.id.uid);
    wrapper.place_lost = false;
  }
  state.touched.insert(wrapper.id.uid);
}

std::vector<model::PlannedPlace> reserved(const QueueState& state, const WrapperRecord& wrapper) {
  std::vector<model::PlannedPlace> places;
  const auto slots = state.core.reserved(wrapper.gang);
  if (!slots) {
    return places;
  }
  for (const sched::Slot& slot : *slots) {
    add_place(places, {.pod_set = static_cast<std::int32_t>(slot.pod_set),
                       .node = state.core.node_name(slot.node),
                       .count = slot.count});
  }
  return places;
}

void sort_places(std::vector<model::PlannedPlace>& places) {
  std::ranges::sort(places, [](const auto& a, const auto& b) {
    return std::tie(a.pod_set, a.node) < std::tie(b.pod_set, b.node);
  });
}

void take_from_plan(WrapperRecord& wrapper, const std::vector<model::PlannedPlace>& places) {
  for (model::PlannedPlace gone : places) {
    gone.count = -gone.count;
    add_place(wrapper.plan, gone);
  }
}

// The plan follows its reserved places, which were others before.
void replan(WrapperRecord& wrapper, const std::vector<model::PlannedPlace>& before,
            const std::vector<model::PlannedPlace>& after) {
  for (const model::PlannedPlace& place : after) {
    add_place(wrapper.plan, place);
  }
  take_from_plan(wrapper, before);
  sort_places(wrapper.plan);
  ++wrapper.plan_version;
  wrapper.plan_unwritten = true;
}

}  // namespace

std::vector<model::PlannedPlace> places_of(const QueueState& state, const WrapperRecord& wrapper) {
  std::vector<model::PlannedPlace> places = reserved(state, wrapper);
  for (const PodRecord* pod : wrapper.pods) {
    if (pod->counted != CountedAs::gang || !pod->planned) {
      continue;
    }
    add_place(
        places,
        {.pod_set = static_cast<std::int32_t>(*pod->pod_set), .node = pod->counted_at, .count = 1});
  }
  for (const model::PlannedPlace& place : wrapper.lost) {
    add_place(places, place);
  }
  sort_places(places);
  return places;
}

std::int64_t pods_lost(const WrapperRecord& wrapper) {
  std::int64_t sum = 0;
  for (const model::PlannedPlace& place : wrapper.lost) {
    sum += is_new_machine(place.node) ? 0 : place.count;
  }
  return sum;
}

Loss before_loss(const QueueState& state, sched::GangId gang) {
  Loss loss{gang, {}};
  const auto found = state.by_gang.find(gang);
  if (found == state.by_gang.end()) {
    return loss;
  }
  for (std::uint32_t set = 0; set < found->second->demand.pod_sets.size(); ++set) {
    loss.unplaced.push_back(state.core.held(gang, set).unplaced);
  }
  return loss;
}

void add_lost(QueueState& state, WrapperRecord& wrapper, const model::PlannedPlace& place) {
  add_place(wrapper.lost, place);
  if (wrapper.lost.empty()) {
    return;
  }
  state.displaced.insert(wrapper.id.uid);
  state.touched.insert(wrapper.id.uid);
}

void note_loss(QueueState& state, const Loss& before, const std::string& node) {
  const auto found = state.by_gang.find(before.gang);
  if (found == state.by_gang.end() || !found->second->holds) {
    return;
  }
  for (std::uint32_t set = 0; set < before.unplaced.size(); ++set) {
    const std::int64_t more = state.core.held(before.gang, set).unplaced - before.unplaced[set];
    if (more <= 0) {
      continue;
    }
    add_lost(state, *found->second,
             {.pod_set = static_cast<std::int32_t>(set), .node = node, .count = more});
  }
  promote_unplanned(state, *found->second);
}

void trim_lost(QueueState& state, WrapperRecord& wrapper, std::uint32_t pod_set,
               std::string_view node) {
  if (wrapper.lost.empty()) {
    return;
  }
  const auto concerned = [&](const model::PlannedPlace& place) {
    return static_cast<std::uint32_t>(place.pod_set) == pod_set;
  };
  std::int64_t found = -state.core.held(wrapper.gang, pod_set).unplaced;
  for (const model::PlannedPlace& place : wrapper.lost) {
    found += concerned(place) ? place.count : 0;
  }
  const auto take = [&](model::PlannedPlace& place) {
    const std::int64_t here = std::clamp<std::int64_t>(found, 0, place.count);
    place.count -= here;
    found -= here;
  };
  for (model::PlannedPlace& place : wrapper.lost) {
    if (concerned(place) && place.node == node) {
      take(place);
    }
  }
  for (model::PlannedPlace& place : wrapper.lost) {
    if (concerned(place)) {
      take(place);
    }
  }
  std::erase_if(wrapper.lost, [](const model::PlannedPlace& place) { return place.count <= 0; });
  settle_lost(state, wrapper);
}

void return_lost_places(QueueState& state, const NodeRecord& node) {
  const std::set<std::string, std::less<>> displaced = state.displaced;
  for (const std::string& uid : displaced) {
    WrapperRecord* wrapper = state.wrapper(uid);
    if (wrapper == nullptr) {
      continue;
    }
    sched::Placement back;
    for (const model::PlannedPlace& place : wrapper->lost) {
      if (place.node != node.spec.name) {
        continue;
      }
      back.push_back({static_cast<std::uint32_t>(place.pod_set), node.id, place.count});
    }
    if (back.empty()) {
      continue;
    }
    (void)state.core.give_places(wrapper->gang, back);
    std::erase_if(wrapper->lost,
                  [&](const model::PlannedPlace& each) { return each.node == node.spec.name; });
    settle_lost(state, *wrapper);
    promote_unplanned(state, *wrapper);
    state.to_bind.insert(uid);
  }
}

std::string_view cluster_of(const WrapperRecord& wrapper) {
  if (!wrapper.cluster.empty()) {
    return wrapper.cluster;
  }
  return wrapper.plan.empty() ? model::managed_cluster::kLocal
                              : model::managed_cluster::cluster_of_node(wrapper.plan.front().node);
}

namespace {

// Of a gang that may use several clusters the core knows its own by what the gang still holds: no
// place of another cluster stands for one of this.
bool may_find_places(const QueueState& state, const WrapperRecord& wrapper) {
  return wrapper.pinned || !reserved(state, wrapper).empty() ||
         std::ranges::any_of(wrapper.pods,
                             [](const PodRecord* pod) { return pod->counted == CountedAs::gang; });
}

}  // namespace

void find_lost_places(QueueState& state) {
  if (state.options.binds == Binds::nothing) {
    return;
  }
  const std::set<std::string, std::less<>> displaced = state.displaced;
  for (const std::string& uid : displaced) {
    WrapperRecord* wrapper = state.wrapper(uid);
    if (wrapper == nullptr || wrapper->draining || wrapper->suspended) {
      continue;
    }
    // Pods on a worker are placed by its own scheduler.
    if (cluster_of(*wrapper) != model::managed_cluster::kLocal) {
      continue;
    }
    const auto before = reserved(state, *wrapper);
    const Result<bool> found = may_find_places(state, *wrapper)
                                   ? state.core.find_places(wrapper->gang, lost_by_set(*wrapper))
                                   : Result<bool>(false);
    if (found && *found) {
      take_from_plan(*wrapper, wrapper->lost);
      replan(*wrapper, before, reserved(state, *wrapper));
      wrapper->lost.clear();
      settle_lost(state, *wrapper);
      state.to_bind.insert(uid);
    } else if (!wrapper->place_lost) {
      wrapper->place_lost = true;
      state.touched.insert(uid);
    }
  }
}

void leave_cordoned_nodes(QueueState& state, WrapperRecord& wrapper,
                          std::vector<std::int64_t> wanted) {
  const auto before = reserved(state, wrapper);
  bool moved = false;
  for (const sched::Slot& slot : state.core.reserved(wrapper.gang).value_or(sched::Placement())) {
    const auto node = state.nodes.find(state.core.node_name(slot.node));
    if (node == state.nodes.end() || !node->second.spec.unschedulable) {
      continue;
    }
    std::int64_t& left = wanted[slot.pod_set];
    for (std::int64_t i = 0; i < slot.count && left > 0; ++i) {
      if (state.core.move_place(wrapper.gang, slot.pod_set, slot.node).value_or(false)) {
        --left;
        moved = true;
      } else {
        left = 0;  // nor do its others fit
      }
    }
  }
  if (moved) {
    replan(wrapper, before, reserved(state, wrapper));
    state.touched.insert(wrapper.id.uid);
  }
}

}  // namespace codeflare::queue
