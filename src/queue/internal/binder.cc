#include "queue/internal/binder.h"

#include "model/managed_cluster.h"
#include "queue/internal/amounts.h"
#include "queue/internal/gang_pods.h"
#include "queue/internal/lost_places.h"
#include "queue/internal/pod_events.h"
#include "queue/internal/standing_of.h"
#include "queue/report.h"
#include "sched/taints.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::queue {

namespace {

// The status of the AppWrapper speaks for its planned pods.
bool speaks_for_itself(const QueueState& state, const PodRecord& pod) {
  if (pod.wrapper == nullptr) {
    return pod.owner.empty();
  }
  return pod.wrapper->holds && std::ranges::count(unplanned_pods(state, *pod.wrapper), &pod) > 0;
}

bool has_started(const QueueState& state, const WrapperRecord& wrapper) {
  return brief_of(state, wrapper).kind == Standing::Kind::started;
}

// A pod that asks for the impossible stays where it is: pending. The problem is reported once.
void give_up(QueueState& state, PodRecord& pod, std::string problem) {
  if (pod.problem == problem) {
    return;
  }
  pod.problem = std::move(problem);
  state.hopeless.insert(pod.uid);
}

void submit_alone(QueueState& state, PodRecord& pod) {
  if (pod.loose || !pod.alone) {
    return;
  }
  sched::PodSet alone = *pod.alone;
  alone.selector.emplace_back(model::managed_cluster::kClusterLabel,
                              model::managed_cluster::kLocal);
  sched::GangSpec spec{.name = "pod/" + pod.uid,
                       .ns = pod.key.ns,
                       .priority = pod.priority,
                       .submitted = pod.created,
                       .pod_sets = {std::move(alone)},
                       .preemptible = false,
                       .loose = true};
  const auto gang = state.core.submit(std::move(spec));
  if (!gang) {
    give_up(state, pod, gang.error().message);
    return;
  }
  pod.loose = *gang;
  state.loose.emplace(*gang, &pod);
  state.loose_added = true;
}

void assume(QueueState& state, PodRecord& pod, const std::string& node,
            std::vector<Binding>& bindings) {
  pod.assumed = node;
  state.nodes[node].pods.insert(&pod);
  bindings.push_back({pod.key, pod.uid, node});
}

// Of what the node has, promises left aside.
bool has_room(const NodeRecord& node, const PodRecord& pod) {
  sched::Resources left = node.spec.allocatable;
  for (const PodRecord* other : node.pods) {
    if (other->phase == PodPhase::active) {
      add(left, other->requests, -1);
    }
  }
  return std::ranges::all_of(pod.requests, [&](const sched::Resource& asked) {
    return asked.amount <= amount_of(left, asked.name);
  });
}

// A sidecar that was injected may make it larger than its place. And a node may be promised more
// than it has: after a restart nobody remembers the pods that had ended before their objects went,
// whose places may have been given to others. Then whoever is there counts.
bool fits(const QueueState& state, const WrapperRecord& wrapper, const PodRecord& pod,
          const sched::Slot& slot, const NodeRecord& node) {
  const sched::Resources& planned = wrapper.demand.pod_sets[slot.pod_set].pods.requests;
  const sched::Resources free = state.core.free(slot.node);
  const bool overdrawn = std::ranges::any_of(
      free, [](const sched::Resource& resource) { return resource.amount < 0; });
  if (overdrawn && !has_room(node, pod)) {
    return false;
  }
  return std::ranges::all_of(pod.requests, [&](const sched::Resource& asked) {
    const sched::Amount place = amount_of(planned, asked.name);
    return asked.amount <= place || asked.amount <= place + amount_of(free, asked.name);
  });
}

// `kubectl drain` cordons a node and evicts its pods: their successors go elsewhere.
bool may_start_on(const NodeRecord& node, const PodRecord& pod) {
  return !node.spec.unschedulable ||
         (pod.alone && sched::tolerates(pod.alone->tolerations, sched::cordon()));
}

sched::Slot* choose(QueueState& state, const WrapperRecord& wrapper, const PodRecord& pod,
                    sched::Placement& free_slots) {
  sched::Slot* chosen = nullptr;
  for (sched::Slot& slot : free_slots) {
    if (slot.count <= 0 || slot.pod_set != pod.pod_set) {
      continue;
    }
    const auto node = state.nodes.find(state.core.node_name(slot.node));
    if (node == state.nodes.end() || !may_start_on(node->second, pod) ||
        !fits(state, wrapper, pod, slot, node->second)) {
      continue;
    }
    if (node->second.ready) {
      return &slot;
    }
    if (chosen == nullptr) {
      chosen = &slot;
    }
  }
  return chosen;
}

// A free place of the pod's set on a node that is cordoned.
bool has_cordoned_slot(const QueueState& state, const PodRecord& pod,
                       const sched::Placement& free_slots) {
  return std::ranges::any_of(free_slots, [&](const sched::Slot& each) {
    const auto node = state.nodes.find(state.core.node_name(each.node));
    return each.count > 0 && each.pod_set == pod.pod_set && node != state.nodes.end() &&
           !may_start_on(node->second, pod);
  });
}

void bind_pods_of(QueueState& state, WrapperRecord& wrapper, std::vector<Binding>& bindings) {
  std::optional<sched::Placement> slots;
  std::vector<std::int64_t> cordoned(wrapper.demand.pod_sets.size());
  for (PodRecord* pod : wrapper.pods) {
    if (!wants_binding(state, *pod)) {
      continue;
    }
    if (!slots) {
      slots = state.core.reserved(wrapper.gang).value_or(sched::Placement{});
    }
    sched::Slot* slot = choose(state, wrapper, *pod, *slots);
    if (slot == nullptr && wrapper.elastic) {
      continue;  // its place is still to come, or it has to go
    }
    if (slot == nullptr && has_cordoned_slot(state, *pod, *slots)) {
      ++cordoned[*pod->pod_set];
      continue;
    }
    if (slot == nullptr) {
      submit_alone(state, *pod);
      continue;
    }
    if (pod->loose) {
      drop_loose(state, *pod);
    }
    --slot->count;
    assume(state, *pod, state.core.node_name(slot->node), bindings);
    settle(state, *pod);
  }
  if (std::ranges::any_of(cordoned, [](std::int64_t pods) { return pods > 0; })) {
    state.cordoned.insert(wrapper.id.uid);
    leave_cordoned_nodes(state, wrapper, std::move(cordoned));
  }
}

}  // namespace

bool wants_binding(const QueueState& state, const PodRecord& pod) {
  if (state.options.binds == Binds::nothing) {
    return false;
  }
  if (!pod.place().empty() || pod.phase != PodPhase::active || pod.deleting || pod.gated) {
    return false;
  }
  return pod.ours || state.options.binds == Binds::all;
}

void keep_constraints(QueueState& state, PodRecord& pod, const model::PodSpec& spec) {
  // The server may yet reject a Binding: they are kept until the API names the node.
  const bool may_need =
      state.options.binds != Binds::nothing && pod.node.empty() && pod.phase == PodPhase::active;
  if (!may_need) {
    pod.alone.reset();
  } else if (!pod.alone) {
    if (auto alone = pod_set_for(spec)) {
      pod.alone = std::make_unique<sched::PodSet>(*std::move(alone));
    } else {
      give_up(state, pod, alone.error().message);
    }
  }
}

void look_for_place(QueueState& state, PodRecord& pod) {
  if (!wants_binding(state, pod)) {
    // Its Binding is under way while the core still knows it.
    if (pod.loose && pod.place().empty()) {
      drop_loose(state, pod);
    }
    return;
  }
  if (pod.wrapper != nullptr) {
    state.to_bind.insert(pod.wrapper->id.uid);
  } else if (pod.owner.empty()) {
    // Nobody has given a place to pods of an AppWrapper that is not known.
    submit_alone(state, pod);
  }
}

void drop_loose(QueueState& state, PodRecord& pod) {
  if (!pod.loose) {
    return;
  }
  (void)state.core.remove(*pod.loose);
  state.loose.erase(*pod.loose);
  pod.loose.reset();
  if (pod.counted == CountedAs::loose) {
    pod.counted = CountedAs::nothing;
  }
}

void bind_loose(QueueState& state, const sched::Admission& admission,
                std::vector<Binding>& bindings) {
  const auto found = state.loose.find(admission.gang);
  if (found == state.loose.end() || admission.placement.empty()) {
    return;
  }
  PodRecord& pod = *found->second;
  if (!wants_binding(state, pod) || (pod.wrapper != nullptr && !has_started(state, *pod.wrapper))) {
    drop_loose(state, pod);
    return;
  }
  assume(state, pod, state.core.node_name(admission.placement.front().node), bindings);
  pod.counted = CountedAs::loose;
  pod.counted_at = pod.assumed;
}

void bind_gangs(QueueState& state, std::vector<Binding>& bindings) {
  state.to_bind.merge(std::exchange(state.cordoned, {}));
  if (state.options.binds == Binds::nothing) {
    state.to_bind.clear();
    return;
  }
  for (const std::string& uid : std::exchange(state.to_bind, {})) {
    WrapperRecord* wrapper = state.wrapper(uid);
    if (wrapper == nullptr || !has_started(state, *wrapper) || wrapper->plan_unwritten) {
      continue;
    }
    bind_pods_of(state, *wrapper, bindings);
  }
}

void tell_unplaced(QueueState& state, const std::vector<sched::Refusal>& refused,
                   std::vector<std::string>& unplaced) {
  for (const sched::Refusal& refusal : refused) {
    const auto found = state.loose.find(refusal.gang);
    if (found != state.loose.end() && speaks_for_itself(state, *found->second)) {
      unplaced.push_back(found->second->uid);
    }
  }
  for (const std::string& uid : std::exchange(state.hopeless, {})) {
    unplaced.push_back(uid);
  }
}

std::optional<Queue::Unplaced> unplaced(QueueState& state, std::string_view pod_uid, Time now) {
  const auto found = state.pods.find(pod_uid);
  if (found == state.pods.end()) {
    return std::nullopt;
  }
  const PodRecord& pod = found->second;
  if (!wants_binding(state, pod) || !speaks_for_itself(state, pod)) {
    return std::nullopt;
  }
  if (!pod.loose) {
    if (pod.problem.empty()) {
      return std::nullopt;
    }
    return Queue::Unplaced{pod.key, "no node can be chosen: " + pod.problem};
  }
  const auto explanation = state.core.explain(*pod.loose, now, sched::Detail::brief);
  if (!explanation || explanation->why == Reason::none) {
    return std::nullopt;
  }
  return Queue::Unplaced{pod.key, pod_sentence(*explanation)};
}

void binding_failed(QueueState& state, std::string_view pod_uid) {
  const auto found = state.pods.find(pod_uid);
  if (found == state.pods.end()) {
    return;
  }
  PodRecord& pod = found->second;
  if (!pod.node.empty() || pod.assumed.empty()) {
    return;
  }
  if (const auto at = state.nodes.find(pod.assumed); at != state.nodes.end()) {
    at->second.pods.erase(&pod);
  }
  if (pod.counted == CountedAs::gang) {
    give_back_place(state, *pod.wrapper, pod);
  }
  if (pod.loose) {
    drop_loose(state, pod);
  }
  pod.assumed.clear();
  settle(state, pod);
  look_for_place(state, pod);
}

}  // namespace codeflare::queue
