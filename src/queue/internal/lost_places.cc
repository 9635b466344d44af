#include "queue/internal/lost_places.h"

#include "queue/internal/gang_pods.h"

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

// The plan's lost places become what was reserved in addition.
void replan(WrapperRecord& wrapper, const std::vector<model::PlannedPlace>& before,
            const std::vector<model::PlannedPlace>& after) {
  for (model::PlannedPlace gone : wrapper.lost) {
    gone.count = -gone.count;
    add_place(wrapper.plan, gone);
  }
  for (model::PlannedPlace place : after) {
    const auto same = std::ranges::find_if(before, [&](const model::PlannedPlace& each) {
      return each.pod_set == place.pod_set && each.node == place.node;
    });
    if (same != before.end()) {
      place.count -= same->count;
    }
    if (place.count > 0) {
      add_place(wrapper.plan, place);
    }
  }
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
    sum += place.count;
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
    const auto before = reserved(state, *wrapper);
    const auto found = state.core.find_places(wrapper->gang, lost_by_set(*wrapper));
    if (found && *found) {
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

}  // namespace codeflare::queue
