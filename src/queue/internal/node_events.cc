#include "queue/internal/node_events.h"

#include "model/managed_cluster.h"
#include "queue/internal/amounts.h"
#include "queue/internal/binder.h"
#include "queue/internal/lost_places.h"
#include "queue/internal/pod_events.h"
#include "queue/machines.h"
#include "queue/marks.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace codeflare::queue {

namespace {

constexpr const char* kNotReady = "node.kubernetes.io/not-ready";
constexpr const char* kUnreachable = "node.kubernetes.io/unreachable";

std::optional<sched::Effect> effect_of(const std::string& effect) {
  if (effect == "NoSchedule") {
    return sched::Effect::no_schedule;
  }
  if (effect == "NoExecute") {
    return sched::Effect::no_execute;
  }
  if (effect == "PreferNoSchedule") {
    return sched::Effect::prefer_no_schedule;
  }
  return std::nullopt;
}

bool same(const sched::NodeSpec& a, const sched::NodeSpec& b) {
  return std::tie(a.name, a.labels, a.taints, a.allocatable, a.unschedulable) ==
         std::tie(b.name, b.labels, b.taints, b.allocatable, b.unschedulable);
}

// Gangs with places there: without the node, elastic ones look for other places for pods that have
// not started; with the node again, pods that wait may start there.
void tell_residents(QueueState& state, const NodeRecord& record) {
  for (const sched::GangId gang : state.core.residents(record.id)) {
    const auto found = state.by_gang.find(gang);
    if (found == state.by_gang.end()) {
      continue;
    }
    const WrapperRecord& wrapper = *found->second;
    if (takes_new_pods(record)) {
      state.to_bind.insert(wrapper.id.uid);
    } else if (wrapper.elastic) {
      state.drifted.insert(wrapper.id.uid);
    }
  }
}

// Empty: the node does not belong to an incomplete request.
std::string pending_request(const sched::NodeSpec& spec) {
  const auto taint = std::ranges::find(spec.taints, kPendingTaint, &sched::Taint::key);
  return taint == spec.taints.end() ? std::string() : taint->value;
}

}  // namespace

void drop_pending(sched::NodeSpec& spec) {
  std::erase_if(spec.taints, [](const sched::Taint& taint) { return taint.key == kPendingTaint; });
}

bool is_ready(const model::Node& node) {
  const bool tainted = std::ranges::any_of(node.spec.taints, [](const model::Taint& taint) {
    return taint.key == kNotReady || taint.key == kUnreachable;
  });
  if (tainted) {
    return false;
  }
  const auto ready = std::ranges::find(node.status.conditions, "Ready", &model::Condition::type);
  return ready != node.status.conditions.end() && ready->status == "True";
}

sched::NodeSpec node_spec(const model::Node& node) {
  sched::NodeSpec spec{.name = node.metadata.name,
                       .allocatable = observed(node.status.allocatable),
                       .unschedulable = node.spec.unschedulable};
  // Of workers CLUSTER/NODE: what pods say of node names is of their own cluster.
  const std::string& name = node.metadata.name;
  for (const auto& [key, value] : node.metadata.labels) {
    if (key != model::managed_cluster::kClusterLabel) {
      spec.labels.emplace_back(key, value);
    }
  }
  spec.labels.emplace_back(kNodeNameKey, name.substr(name.find('/') + 1));
  spec.labels.emplace_back(model::managed_cluster::kClusterLabel,
                           model::managed_cluster::cluster_of_node(name));
  for (const model::Taint& taint : node.spec.taints) {
    if (const auto effect = effect_of(taint.effect)) {
      spec.taints.push_back({taint.key, taint.value, *effect});
    }
  }
  // Pods tolerate NoExecute of these for some minutes: that is for pods that are there already.
  if (!is_ready(node)) {
    spec.taints.push_back({kNotReady, "", sched::Effect::no_schedule});
  }
  return spec;
}

void tell_foreign(QueueState& state, NodeRecord& node) {
  if (!node.present || node.foreign == node.foreign_told) {
    return;
  }
  (void)state.core.set_foreign(node.id, node.foreign);
  node.foreign_told = node.foreign;
}

bool takes_new_pods(const NodeRecord& node) {
  return node.ready && !node.spec.unschedulable;
}

void add_node_unit(const TrainingOptions& options, sched::NodeSpec& spec) {
  std::erase_if(spec.allocatable,
                [](const sched::Resource& each) { return each.name == kNodeUnitResource; });
  const bool selected = std::ranges::all_of(options.node_selector, [&](const auto& label) {
    return std::ranges::find(spec.labels, std::pair(label.first, label.second)) !=
           spec.labels.end();
  });
  if (options.unit == kNodeUnit && selected) {
    spec.allocatable.push_back({std::string(kNodeUnitResource), 1});
  }
}

void training_changed(QueueState& state) {
  for (auto& [name, record] : state.nodes) {
    if (!record.present) {
      continue;
    }
    add_node_unit(state.options.training, record.spec);
    (void)state.core.upsert_node(record.spec);
  }
}

void upsert_node(QueueState& state, const model::Node& node) {
  NodeRecord& record = state.nodes[node.metadata.name];
  sched::NodeSpec spec = node_spec(node);
  add_node_unit(state.options.training, spec);
  const bool took_new_pods = takes_new_pods(record);
  record.ready = is_ready(node);
  record.pending = pending_request(spec);
  if (state.arrived.contains(record.pending)) {
    record.pending.clear();
    drop_pending(spec);
  }
  // Nodes are written every few seconds; mostly nothing of this changes.
  if (record.present && same(record.spec, spec)) {
    return;
  }
  const auto id = state.core.upsert_node(spec);
  if (!id) {
    return;
  }
  record.spec = std::move(spec);
  record.id = *id;
  if (record.present) {
    if (takes_new_pods(record) != took_new_pods) {
      tell_residents(state, record);
    }
    return;
  }
  record.present = true;
  record.foreign_told.clear();
  tell_foreign(state, record);
  const PodSetOf pods = record.pods;
  for (PodRecord* pod : pods) {
    settle(state, *pod);
  }
  return_lost_places(state, record);
}

void remove_node(QueueState& state, std::string_view name) {
  const auto at = state.nodes.find(name);
  if (at == state.nodes.end() || !at->second.present) {
    return;
  }
  NodeRecord& record = at->second;
  std::vector<Loss> losses;
  for (const sched::GangId gang : state.core.residents(record.id)) {
    losses.push_back(before_loss(state, gang));
  }
  for (const sched::GangId gang : state.core.remove_node(record.id)) {
    if (const auto found = state.by_gang.find(gang); found != state.by_gang.end()) {
      state.touched.insert(found->second->id.uid);
      if (found->second->elastic) {
        std::erase_if(found->second->leaving,
                      [&](const model::PlannedPlace& place) { return place.node == at->first; });
        state.drifted.insert(found->second->id.uid);
      }
    }
  }
  record.present = false;
  record.foreign_told.clear();
  const PodSetOf pods = record.pods;
  for (PodRecord* pod : pods) {
    // The core has taken them off; a Binding that is under way leads nowhere.
    if (pod->counted == CountedAs::gang) {
      pod->counted = CountedAs::nothing;
    }
    if (!pod->node.empty() || pod->assumed.empty()) {
      continue;
    }
    pod->assumed.clear();
    record.pods.erase(pod);
    drop_loose(state, *pod);
    settle(state, *pod);
    look_for_place(state, *pod);
  }
  for (const Loss& loss : losses) {
    note_loss(state, loss, at->first);
  }
  if (record.pods.empty()) {
    state.nodes.erase(at);
  }
}

}  // namespace codeflare::queue
