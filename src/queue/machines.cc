#include "queue/machines.h"

#include "base/split.h"
#include "model/validation.h"
#include "queue/internal/amounts.h"
#include "queue/internal/machine_plan.h"
#include "queue/internal/node_events.h"
#include "queue/marks.h"
#include "queue/training_work.h"
#include "sched/machines.h"

#include <algorithm>
#include <set>
#include <utility>

namespace codeflare::queue {

namespace {

using sched::MachineNeed;
using Outcome = MachineNeed::Outcome;

constexpr std::int64_t kPodsMax = 110;

// Of the queue's own books: machines and autoscalers do not know these.
bool is_bookkeeping(const std::string& resource) {
  return resource == "pods" || resource == kNodeUnitResource;
}

std::vector<std::pair<std::string, std::int64_t>> by_type(const MachineMarket& market,
                                                          const MachineNeed& need) {
  std::vector<std::pair<std::string, std::int64_t>> machines;
  for (const sched::MachineCount& each : need.machines) {
    machines.emplace_back(market.offers[each.kind].type, each.count);
  }
  return machines;
}

model::List<model::MachinePods> pods_on(const MachineMarket& market, const WrapperRecord& record,
                                        const MachineNeed& need) {
  model::List<model::MachinePods> pods;
  for (const sched::MachineLoad& load : need.loads) {
    if (load.pod_set >= record.demand.pod_sets.size()) {
      continue;
    }
    model::MachinePods each{.type = market.offers[load.kind].type, .count = load.pods};
    for (const sched::Resource& request : record.demand.pod_sets[load.pod_set].pods.requests) {
      const auto amount = model::Quantity::parse(quantity_text(request.name, request.amount));
      if (amount && !is_bookkeeping(request.name)) {
        each.requests.set(request.name, *amount);
      }
    }
    pods.push_back(std::move(each));
  }
  return pods;
}

const WrapperRecord* record_of(const QueueState& state, sched::GangId gang) {
  const auto found = state.by_gang.find(gang);
  return found == state.by_gang.end() ? nullptr : found->second;
}

// Types of the pod sets as the label names them; empty without the label.
std::vector<std::string> ordered_types(const WrapperRecord& record) {
  const auto label =
      std::ranges::find(record.quota, kOrderedInstanceLabel, &sched::Designation::tree);
  std::vector<std::string> types;
  if (label != record.quota.end() && !label->node.empty()) {
    for (const std::string_view type : split(label->node, '_')) {
      types.emplace_back(type);
    }
  }
  return types;
}

// The types of all clusters with this name.
std::vector<std::size_t> offers_of(const MachineMarket& market, const std::string& type) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < market.offers.size(); ++i) {
    const MachineOffer& offer = market.offers[i];
    if (offer.type == (offer.cluster.empty() ? type : offer.cluster + "/" + type)) {
      found.push_back(i);
    }
  }
  return found;
}

sched::MachineWish wish_of(const MachineMarket& market, const WrapperRecord& record) {
  sched::MachineWish wish{.purse = record.id.key.ns};
  const std::vector<std::string> types = ordered_types(record);
  // Only SDKs that name types ask for labels of their own.
  if (!types.empty()) {
    const model::StringMap labels = machine_labels(record.id);
    wish.labels.assign(labels.begin(), labels.end());
  }
  for (std::size_t i = 0; i < market.offers.size(); ++i) {
    const std::string& cluster = market.offers[i].cluster;
    const bool gave_up =
        record.cluster_notes != nullptr && record.cluster_notes->no_machines.contains(cluster);
    // Gangs of several sizes start by the core's word alone.
    if (gave_up || (record.elastic && !cluster.empty())) {
      wish.without.push_back(i);
    }
  }
  for (const std::string& type : types) {
    wish.kinds.push_back(offers_of(market, type));  // a type that does not exist: no machine
  }
  return wish;
}

sched::MachineQuestion question_of(const QueueState& state, const MachineMarket& market) {
  sched::MachineQuestion question;
  for (const MachineOffer& offer : market.offers) {
    sched::MachineKind kind{.node = machine_spec(offer.spec, offer.type, {}),
                            .cost = offer.spec.cost_per_hour.value_or(0),
                            .max = offer.spec.max,
                            .limited = offer.cluster.empty(),
                            .starts = !offer.cluster.empty()};
    add_node_unit(state.options.training, kind.node);
    kind.left =
        offer.resting.empty() ? std::max<std::int64_t>(0, offer.spec.max - offer.in_use) : 0;
    question.kinds.push_back(std::move(kind));
  }
  for (const MachineOnOrder& machine : market.on_order) {
    const auto offer = std::ranges::find(market.offers, machine.type, &MachineOffer::type);
    if (offer != market.offers.end()) {
      question.coming.push_back(machine_spec(offer->spec, machine.type, machine.labels));
      add_node_unit(state.options.training, question.coming.back());
    } else {
      question.coming.push_back({.name = machine.type});  // room for nothing
    }
  }
  question.machines_left = market.machines_left.value_or(question.machines_left);
  question.cost_left = market.budget_left.value_or(question.cost_left);
  question.wish = [&](sched::GangId gang) -> std::optional<sched::MachineWish> {
    const WrapperRecord* record = record_of(state, gang);
    return record == nullptr ? std::nullopt : std::optional(wish_of(market, *record));
  };
  if (market.namespace_budget) {
    for (const auto& [uid, record] : state.wrappers) {
      const std::string& ns = record.id.key.ns;
      const auto spent = market.namespace_costs.find(ns);
      question.purses.emplace(ns, *market.namespace_budget -
                                      (spent == market.namespace_costs.end() ? 0 : spent->second));
    }
  }
  return question;
}

std::set<std::string> requests_of(const MachineMarket& market, const MachineNeed& need) {
  std::set<std::string> requests;
  for (const std::size_t machine : need.uses) {
    requests.insert(market.on_order[machine].request);
  }
  return requests;
}

// The last of them.
std::optional<Time> ready_of(const MachineMarket& market, const std::set<std::string>& requests) {
  std::optional<Time> ready;
  for (const std::string& request : requests) {
    const auto at = market.ready_at.find(request);
    if (at == market.ready_at.end()) {
      return std::nullopt;
    }
    ready = std::max(ready.value_or(at->second), at->second);
  }
  return ready;
}

std::string requests_text(const MachineMarket& market, const MachineNeed& need) {
  std::string text;
  for (const std::string& request : requests_of(market, need)) {
    const auto about = market.requests.find(request);
    text += (text.empty() ? "" : "; ") + (about == market.requests.end() ? request : about->second);
  }
  return text;
}

std::string scaling_text(const QueueState& state, const MachineMarket& market,
                         const MachineNeed& need) {
  std::string text = requests_text(market, need);
  for (const sched::GangId gang : need.shares) {
    if (const WrapperRecord* record = record_of(state, gang)) {
      text += (text.empty() ? "shares new machines of " : "; shares new machines of ") +
              record->id.key.to_string();
    }
  }
  if (need.outcome == Outcome::asks) {
    text += (text.empty() ? "asks for " : "; asks for ") + machines_text(by_type(market, need));
  }
  return text;
}

std::string limit_text(const MachineMarket& market, const MachineNeed& need) {
  const std::string needs = "needs " + machines_text(by_type(market, need)) + ", but ";
  switch (need.limit) {
    case MachineNeed::Limit::machines:
      return needs + market.machines_limit + " leaves " +
             std::to_string(std::max<std::int64_t>(0, market.machines_left.value_or(0)));
    case MachineNeed::Limit::cost:
      return needs + "they exceed " + market.budget_limit;
    case MachineNeed::Limit::purse:
      return needs + "they exceed the budget of the namespace";
    case MachineNeed::Limit::kind:
    case MachineNeed::Limit::none:
      break;
  }
  const MachineOffer& offer = market.offers[need.kind];
  if (!offer.resting.empty()) {
    return needs + "type " + offer.type + " " + offer.resting;
  }
  return needs + "MachineType " + offer.type + " allows max " + std::to_string(offer.spec.max) +
         " (" + std::to_string(offer.in_use) + " in use)";
}

// Which amount of one pod no machine has; empty when amounts are not the reason.
std::string too_large_text(const MachineMarket& market, const sched::Resources& requests) {
  for (const sched::Resource& request : requests) {
    if (request.name == kNodeUnitResource) {
      continue;
    }
    sched::Amount largest = 0;
    std::string type;
    for (const MachineOffer& offer : market.offers) {
      const sched::Amount has =
          amount_of(machine_spec(offer.spec, offer.type, {}).allocatable, request.name);
      if (type.empty() || has > largest) {
        largest = has;
        type = offer.type;
      }
    }
    if (request.amount > largest) {
      return "needs " + human_resource(request.name, request.amount) +
             " on one node, the largest machine type " + type + " has " +
             human_amount(request.name, largest);
    }
  }
  return "";
}

std::string impossible_text(const MachineMarket& market, const WrapperRecord& record,
                            std::uint32_t pod_set) {
  for (const std::string& type : ordered_types(record)) {
    if (offers_of(market, type).empty()) {
      return "label " + std::string(kOrderedInstanceLabel) + " names " + type +
             ", but there is no such MachineType";
    }
  }
  const std::string who = "pod set " + std::to_string(pod_set);
  const sched::Resources requests = pod_set < record.demand.pod_sets.size()
                                        ? record.demand.pod_sets[pod_set].pods.requests
                                        : sched::Resources{};
  const std::string large = too_large_text(market, requests);
  return who + " fits no machine type: " +
         (large.empty() ? "labels, taints or the sum of its requests exclude them" : large);
}

// Of the clusters whose machines were of no use to it.
std::string gave_up_text(const MachineMarket& market, const WrapperRecord& record) {
  for (const MachineOffer& offer : market.offers) {
    if (record.cluster_notes != nullptr &&
        record.cluster_notes->no_machines.contains(offer.cluster)) {
      return "cluster " + offer.cluster +
             " did not start it in time; its machines are tried again "
             "later";
    }
  }
  return "";
}

MachineNote note_of(const QueueState& state, const MachineMarket& market,
                    const WrapperRecord& record, const MachineNeed& need) {
  switch (need.outcome) {
    case Outcome::coming:
    case Outcome::asks:
      return {true, scaling_text(state, market, need)};
    case Outcome::over_limit:
      return {false, limit_text(market, need)};
    case Outcome::impossible: {
      std::string gave_up = gave_up_text(market, record);
      return {false,
              gave_up.empty() ? impossible_text(market, record, need.pod_set) : std::move(gave_up)};
    }
    case Outcome::fits:
      break;
  }
  return {};
}

// Where all pods of the gang are to be in the cluster of its new machines.
std::vector<model::PlannedPlace> places_there(const QueueState& state, const MachineNeed& need,
                                              const MachineOffer& offer) {
  const std::string type = offer.type.substr(offer.cluster.size() + 1);
  std::map<std::pair<std::uint32_t, std::string>, std::int64_t> pods;
  for (const sched::MachinePlace& place : need.places) {
    pods[{place.pod_set, place.node ? state.core.node_name(*place.node)
                                    : new_machine_place(offer.cluster, type)}] += place.pods;
  }
  std::vector<model::PlannedPlace> places;
  for (const auto& [where, count] : pods) {
    places.push_back(
        {.pod_set = static_cast<std::int32_t>(where.first), .node = where.second, .count = count});
  }
  return places;
}

constexpr std::string_view kNewMachine = "new:";  // no Node has such a name

}  // namespace

std::string new_machine_place(std::string_view cluster, std::string_view type) {
  return std::string(cluster) + "/" + std::string(kNewMachine) + std::string(type);
}

bool is_new_machine(std::string_view place) {
  return place.substr(place.find('/') + 1).starts_with(kNewMachine);
}

model::StringMap machine_labels(const WorkId& work) {
  model::StringMap labels;
  for (const std::string& label : {work.key.name, work.key.name + "-" + work.key.ns}) {
    if (model::check_qualified_name(label).empty() && model::check_label_value(label).empty()) {
      labels.emplace(label, label);
    }
  }
  return labels;
}

sched::NodeSpec machine_spec(const model::MachineTypeSpec& type, const std::string& name,
                             const model::StringMap& labels) {
  model::Node node;
  node.metadata.name = name;
  node.metadata.labels = type.labels;
  for (const auto& [key, value] : labels) {
    node.metadata.labels.insert_or_assign(key, value);
  }
  node.spec.taints = type.taints;
  node.status.allocatable = type.capacity;
  if (node.status.allocatable.get("pods").is_zero()) {
    node.status.allocatable.set("pods", model::Quantity(kPodsMax));
  }
  node.status.conditions.push_back({.type = "Ready", .status = "True"});
  sched::NodeSpec spec = node_spec(node);
  // Nobody knows its name yet.
  std::erase_if(spec.labels, [](const auto& label) { return label.first == kNodeNameKey; });
  return spec;
}

std::string machines_text(const std::vector<std::pair<std::string, std::int64_t>>& machines) {
  std::string text;
  for (const auto& [type, count] : machines) {
    const std::string noun = count == 1 ? " machine of type " : " machines of type ";
    text += (text.empty() ? "" : ", ") + std::to_string(count) + noun + type;
  }
  return text;
}

void restrict_to_types(const WrapperRecord& record, std::vector<sched::PodSet>& pods) {
  const std::vector<std::string> types = ordered_types(record);
  for (std::size_t i = 0; i < std::min(types.size(), pods.size()); ++i) {
    const std::string key(kMachineTypeLabel);
    const sched::Requirement of_type{key, sched::Operator::in, {types[i]}};
    const sched::Requirement no_machine{key, sched::Operator::does_not_exist, {}};
    std::vector<sched::Term> before = std::move(pods[i].affinity);
    if (before.empty()) {
      before.emplace_back();
    }
    pods[i].affinity.clear();
    for (const sched::Term& term : before) {
      for (const sched::Requirement& requirement : {of_type, no_machine}) {
        pods[i].affinity.push_back(term);
        pods[i].affinity.back().requirements.push_back(requirement);
      }
    }
  }
}

MachinePlan plan_machines(QueueState& state, const MachineMarket& market, Time now) {
  MachinePlan plan;
  if (market.offers.empty() && market.on_order.empty()) {
    return plan;
  }
  const sched::MachineAnswer answer = state.core.machines(question_of(state, market), now);
  for (const MachineNeed& need : answer.needs) {
    const WrapperRecord* record = record_of(state, need.gang);
    if (record == nullptr || need.outcome == Outcome::fits) {
      continue;
    }
    // Machines of other clusters would do, once the gang with the reservation has started.
    if (need.fenced && need.outcome == Outcome::impossible) {
      continue;
    }
    // The core wakes nobody for a pause: gangs may still wait for nodes by its word.
    if (need.outcome == Outcome::asks && state.core.paused()) {
      continue;
    }
    MachineNote note = note_of(state, market, *record, need);
    note.requests = requests_of(market, need);
    note.ready = ready_of(market, note.requests);
    plan.notes.emplace(record->id.uid, std::move(note));
    if (need.outcome == Outcome::asks) {
      plan.asks.push_back({.work = record->id,
                           .machines = by_type(market, need),
                           .labels = machine_labels(record->id),
                           .pods = pods_on(market, *record, need)});
      // A gang stays within one cluster, and so do its machines.
      const MachineOffer& offer = market.offers[need.machines.front().kind];
      if (!offer.cluster.empty()) {
        plan.asks.back().cluster = offer.cluster;
        plan.asks.back().places = places_there(state, need, offer);
      }
    }
  }
  return plan;
}

bool set_machine_notes(QueueState& state, std::map<std::string, MachineNote> notes) {
  bool changed = false;
  // A machine that may not be requested is news even where the reason stays the same.
  const auto tell = [&](const std::string& uid, bool anew) {
    state.touched.insert(uid);
    changed = true;
    if (WrapperRecord* record = anew ? state.wrapper(uid) : nullptr; record != nullptr) {
      record->told = {};
    }
  };
  for (const auto& [uid, note] : state.machine_notes) {
    const auto now = notes.find(uid);
    if (now == notes.end()) {
      tell(uid, false);
    } else if (now->second != note) {
      tell(uid, !now->second.scaling && now->second.text != note.text);
    }
  }
  for (const auto& [uid, note] : notes) {
    if (!state.machine_notes.contains(uid)) {
      tell(uid, !note.scaling);
    }
  }
  state.machine_notes = std::move(notes);
  return changed;
}

bool set_arrived(QueueState& state, std::set<std::string> requests) {
  state.arrived = std::move(requests);
  bool news = false;
  for (auto& [name, record] : state.nodes) {
    if (record.present && !record.pending.empty() && state.arrived.contains(record.pending)) {
      record.pending.clear();
      drop_pending(record.spec);
      (void)state.core.upsert_node(record.spec);
      news = true;
    }
  }
  return news;
}

}  // namespace codeflare::queue
