#include "controllers/scale/machineset_machines.h"

#include "controllers/pods_type.h"
#include "model/resources.h"
#include "queue/machines.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace codeflare::controllers::scale {

namespace {

constexpr std::string_view kReuse = "reuse";
constexpr std::string_view kDuplicate = "duplicate";

std::string parameter(const model::MachineTypeSpec& spec, std::string_view key,
                      std::string_view otherwise) {
  const std::string_view value = model::find_or_empty(spec.parameters, key);
  return std::string(value.empty() ? otherwise : value);
}

// The oldest Machine of each order; the others are free again.
std::map<std::string, const Machine*, std::less<>> by_order(const std::vector<Machine>& machines) {
  std::map<std::string, const Machine*, std::less<>> owned;
  for (const Machine& machine : machines) {
    if (!machine.order().empty()) {
      owned.try_emplace(std::string(machine.order()), &machine);
    }
  }
  return owned;
}

bool is_alive(const Machine& machine) {
  return !machine.metadata.deleting() && !machine.is_marked();
}

// Machines of the set that no order has, and that came after the request.
std::vector<const Machine*> free_machines(const std::vector<Machine>& machines,
                                          const MachineSet& set, const MachineOrder& order) {
  const auto owned = by_order(machines);
  std::vector<const Machine*> found;
  for (const Machine& machine : machines) {
    const auto owner = owned.find(machine.order());
    const bool is_free = owner == owned.end() || owner->second != &machine;
    if (is_free && is_alive(machine) && machine.set == set.metadata.name &&
        machine.metadata.creation_timestamp.value_or(WallTime{}) >= order.asked) {
      found.push_back(&machine);
    }
  }
  return found;
}

// The set has fewer Machines than it wants, without those that are about to go with a replica.
bool lacks_machines(const std::vector<Machine>& machines, const MachineSet& set) {
  std::int64_t stay = 0;
  std::int64_t leave = 0;
  for (const Machine& machine : machines) {
    if (machine.set == set.metadata.name) {
      stay += is_alive(machine) ? 1 : 0;
      leave += !is_alive(machine) && is_counted(set, machine.order()) ? 1 : 0;
    }
  }
  return stay < set.replicas - leave;
}

}  // namespace

MachineSetMachines::MachineSetMachines(runtime::Manager& manager, const QueueDriver& driver,
                                       MachineSetOptions options)
    : client_(manager.client()),
      sets_(manager.cache().informer(kMachineSets, {.watch = {.ns = options.ns}})),
      machines_(manager.cache().informer(kMachines, {.watch = {.ns = options.ns}})),
      nodes_(manager.cache().informer(model::resource_type<model::Node>()).store()),
      pods_(manager.cache().informer(kPods).store()),
      driver_(driver),
      options_(std::move(options)) {}

std::vector<MachineSet> MachineSetMachines::sets() const {
  std::vector<MachineSet> all;
  for (const kube::ObjectRef& object : sets_.store().list(options_.ns)) {
    if (Result<MachineSet> set = read_machine_set(object); set && !set->metadata.deleting()) {
      all.push_back(*std::move(set));
    }
  }
  return all;
}

std::vector<Machine> MachineSetMachines::machines() const {
  std::vector<Machine> all;
  for (const kube::ObjectRef& object : machines_.store().list(options_.ns)) {
    if (Result<Machine> machine = read_machine(*object)) {
      all.push_back(*std::move(machine));
    }
  }
  std::ranges::sort(all, {}, [](const Machine& each) {
    return std::tuple(each.metadata.creation_timestamp.value_or(WallTime{}), each.metadata.name);
  });
  return all;
}

std::optional<MachineSet> MachineSetMachines::set_of(const MachineOrder& order) const {
  for (MachineSet& set : sets()) {
    if (counted(set, order)) {
      return std::move(set);
    }
  }
  return std::nullopt;
}

std::optional<MachineSet> MachineSetMachines::source(const std::string& type,
                                                     const model::MachineTypeSpec& spec) const {
  const std::string name = parameter(spec, kMachineSetParameter, "");
  const std::string instance_type = parameter(spec, kInstanceTypeParameter, type);
  for (MachineSet& set : sets()) {
    const bool is_copied = set.metadata.labels.contains(std::string(queue::kRequestLabel));
    if (name.empty() ? !is_copied && set.instance_type == instance_type
                     : set.metadata.name == name) {
      return std::move(set);
    }
  }
  return std::nullopt;
}

model::MachineTypeSpec MachineSetMachines::completed(const std::string& type,
                                                     model::MachineTypeSpec spec) const {
  const std::optional<MachineSet> set = source(type, spec);
  if (!set) {
    return spec;
  }
  for (const auto& [resource, amount] : machine_capacity(*set)) {
    if (spec.capacity.find(resource) == nullptr) {
      spec.capacity.set(resource, amount);
    }
  }
  spec.labels.insert(set->node_labels.begin(), set->node_labels.end());
  if (!set->instance_type.empty()) {
    spec.labels.emplace("node.kubernetes.io/instance-type", set->instance_type);
  }
  for (const model::Taint& taint : set->node_taints) {
    spec.taints.push_back(taint);
  }
  return spec;
}

model::MachineTypeSpec MachineSetMachines::complete(const model::MachineType& type) const {
  return completed(type.metadata.name, type.spec);
}

// A conflict does not fail: the next look shows what somebody else wrote.
Task<Result<void>> MachineSetMachines::patch(runtime::Informer& informer, model::ObjectKey key,
                                             std::string body) {
  const Result<kube::ObjectRef> done =
      co_await client_.patch(informer.type(), key, kube::PatchKind::merge, std::move(body));
  if (!done) {
    co_return done.error().code == ErrorCode::conflict ? Result<void>() : fail(done.error());
  }
  informer.note_written(**done);
  co_return co_await informer.fresh(std::move(key));
}

Task<Result<void>> MachineSetMachines::begin(std::vector<MachineOrder> orders) {
  const MachineOrder& first = orders.front();
  const std::optional<MachineSet> set = source(first.type, first.spec);
  if (!set) {
    const std::string name = parameter(first.spec, kMachineSetParameter, "");
    co_return fail(failed_precondition(
        "MachineType " + first.type + ": namespace " + options_.ns +
        (name.empty() ? " has no MachineSet with instance type " +
                            parameter(first.spec, kInstanceTypeParameter, first.type) +
                            ": set parameter machineSet or instanceType"
                      : " has no MachineSet " + name)));
  }
  const std::string strategy = parameter(first.spec, kStrategyParameter, kReuse);
  if (strategy == kReuse) {
    std::string body = raise_patch(*set, orders);
    co_return co_await patch(sets_, set->metadata.key(), std::move(body));
  }
  if (strategy != kDuplicate) {
    co_return fail(failed_precondition("MachineType " + first.type + ": parameter strategy is " +
                                       strategy + ": expected reuse or duplicate"));
  }
  std::string body = copy_json(*set, orders);
  const Result<kube::ObjectRef> made =
      co_await client_.create(kMachineSets, options_.ns, std::move(body));
  if (!made) {
    co_return made.error().code == ErrorCode::already_exists ? Result<void>() : fail(made.error());
  }
  sets_.note_written(**made);
  co_return co_await sets_.fresh((*made)->key());
}

bool MachineSetMachines::is_used(const Machine& machine) const {
  return nodes_.is_there(machine.node) && is_node_used(driver_, pods_, machine.node);
}

// Each order gets a Machine as they come, so that what goes back is what came.
Task<Result<void>> MachineSetMachines::bind(MachineSet set, std::vector<MachineOrder> orders) {
  const std::vector<Machine> all = machines();
  const auto owned = by_order(all);
  std::vector<const Machine*> free = free_machines(all, set, orders.front());
  std::erase_if(free, [this](const Machine* each) { return is_used(*each); });
  std::size_t next = 0;
  for (const MachineOrder& order : orders) {
    if (!owned.contains(order.name) && is_counted(set, order.name) && next < free.size()) {
      const Machine& machine = *free[next++];
      std::string body = bind_patch(machine, order, false);
      CO_TRY(co_await patch(machines_, machine.metadata.key(), std::move(body)));
    }
  }
  co_return Result<void>();
}

Task<Result<void>> MachineSetMachines::ask_type(std::vector<MachineOrder> orders) {
  std::optional<MachineSet> set = set_of(orders.front());
  if (!set) {
    co_return co_await begin(std::move(orders));
  }
  co_return co_await bind(*std::move(set), std::move(orders));
}

Task<Result<void>> MachineSetMachines::ask(std::vector<MachineOrder> orders) {
  std::map<std::string, std::vector<MachineOrder>> by_type;
  for (MachineOrder& order : orders) {
    by_type[order.type].push_back(std::move(order));
  }
  for (auto& [type, set] : by_type) {
    CO_TRY(co_await ask_type(std::move(set)));
  }
  co_return Result<void>();
}

std::vector<MachineView> MachineSetMachines::look(const std::vector<MachineOrder>& orders) const {
  std::vector<MachineView> views(orders.size());
  const std::vector<Machine> all = machines();
  const auto owned = by_order(all);
  for (const MachineOrder& type : one_of_each_type(orders)) {
    const std::optional<MachineSet> set = set_of(type);
    const model::ResourceList promised = completed(type.type, type.spec).capacity;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i].type != type.type) {
        continue;
      }
      MachineView& view = views[i];
      view.problem = set ? set->problem : std::string();
      const auto found = owned.find(orders[i].name);
      if (found == owned.end()) {
        view.note = set ? "MachineSet " + set->metadata.name + " has no Machine yet" : "";
        continue;
      }
      const Machine& machine = *found->second;
      view.problem = machine.problem.empty() ? view.problem : machine.problem;
      view.node = nodes_.is_there(machine.node) ? machine.node : std::string();
      view.there = !view.node.empty();
      view.note = type.arrived ? std::string() : nodes_.shortage(view.node, promised);
      view.ready = nodes_.is_ready(view.node) && view.note.empty();
      if (view.node.empty()) {
        view.note = "Machine " + machine.metadata.name + " is " +
                    (machine.phase.empty() ? "new" : machine.phase);
      }
    }
  }
  return views;
}

// Marked first and lowered at the next look, so that the set removes this Machine and no other. An
// order whose Machine was replaced takes the one that replaced it.
Task<Result<bool>> MachineSetMachines::release(MachineSet set, MachineOrder order) {
  const std::vector<Machine> all = machines();
  const auto owned = by_order(all);
  const auto found = owned.find(order.name);
  const Machine* machine = found == owned.end() ? nullptr : found->second;
  bool wait = false;
  if (machine == nullptr) {
    const std::vector<const Machine*> free = free_machines(all, set, order);
    const auto unused =
        std::ranges::find_if(free, [this](const Machine* each) { return !is_used(*each); });
    machine = unused == free.end() ? nullptr : *unused;
    wait = machine == nullptr && !free.empty();
  }
  if (machine != nullptr && is_alive(*machine)) {
    std::string body = bind_patch(*machine, order, true);
    CO_TRY(co_await patch(machines_, machine->metadata.key(), std::move(body)));
    co_return false;
  }
  // Without a Machine of ours the set could remove somebody else's.
  const bool lower = machine != nullptr || lacks_machines(all, set);
  if (lower || !wait) {
    std::string body = release_patch(set, order, lower);
    CO_TRY(co_await patch(sets_, set.metadata.key(), std::move(body)));
  }
  co_return false;
}

// A copy goes after its last Machine.
Task<Result<bool>> MachineSetMachines::tidy(MachineOrder order) {
  const std::vector<Machine> all = machines();
  if (std::ranges::any_of(all, [&](const Machine& each) { return each.order() == order.name; })) {
    co_return false;
  }
  const std::optional<MachineSet> set = set_of(order);
  if (!set || !is_copy(*set, order) || !counted(*set, order)->empty()) {
    // A set that is going is not seen any more: it is gone when the cache has none.
    const model::ObjectKey key{options_.ns, copy_name(order)};
    co_return set || sets_.store().get(key) == nullptr;
  }
  if (std::ranges::find(all, set->metadata.name, &Machine::set) != all.end()) {
    options_.logger.warn("MachineSet of a request has Machines that nobody asked for: delete it",
                         {{"machineset", set->metadata.name}, {"request", order.request}});
    co_return true;
  }
  const Result<kube::ObjectRef> removed =
      co_await client_.remove(kMachineSets, set->metadata.key(), {.uid = set->metadata.uid});
  if (!removed && removed.error().code != ErrorCode::not_found) {
    co_return fail(removed.error());
  }
  co_return false;
}

Task<Result<bool>> MachineSetMachines::give_back(MachineOrder order) {
  std::optional<MachineSet> set = set_of(order);
  if (set && is_counted(*set, order.name)) {
    co_return co_await release(*std::move(set), std::move(order));
  }
  co_return co_await tidy(std::move(order));
}

}  // namespace codeflare::controllers::scale
