#include "controllers/scale/provisioning_machines.h"

#include "controllers/pods_type.h"
#include "controllers/scale/placeholder_machines.h"
#include "controllers/scale/shape.h"
#include "json/write.h"
#include "model/resources.h"
#include "queue/machines.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace codeflare::controllers::scale {

namespace {

const model::ResourceType kPodTemplates{.group = "",
                                        .version = "v1",
                                        .kind = "PodTemplate",
                                        .plural = "podtemplates",
                                        .namespaced = true};

constexpr std::size_t kPodSetsMax = 32;  // of a ProvisioningRequest
// PodTemplates need an image; nothing runs it.
constexpr std::string_view kImage = "pause";

// The MachineRequest's name is made from the UID of the work.
model::ObjectKey key_of(const MachineOrder& order) {
  return {order.work.ns, order.request};
}

std::string title(const kube::Object& request) {
  return "ProvisioningRequest " + request.key().to_string();
}

std::string request_of(const kube::Object& object) {
  return object.string_at({"metadata", "labels", queue::kRequestLabel});
}

void write_metadata(json::Writer& w, const MachineOrder& order, const std::string& name) {
  w.key("metadata").begin_object().member("name", name).member("namespace", order.work.ns);
  w.key("labels").begin_object().member(queue::kRequestLabel, order.request).end_object();
  w.end_object();
}

struct PodSet {
  std::string name;  // of the PodTemplate
  std::int64_t count = 0;
  std::string body{};
};

std::vector<PodSet> pod_sets_of(const std::vector<MachineOrder>& types) {
  std::vector<PodSet> sets;
  for (const MachineOrder& order : types) {
    std::size_t number = 0;
    for (const model::MachinePods& pods : order.pods) {
      PodSet set{
          .name = order.request + "-" + type_suffix(order.type) + "-" + std::to_string(number++),
          .count = pods.count};
      json::Writer w(set.body);
      w.begin_object().member("apiVersion", "v1").member("kind", "PodTemplate");
      write_metadata(w, order, set.name);
      w.key("template").begin_object().key("spec").begin_object();
      w.member("restartPolicy", "Never");
      write_shape(w, order, pods, std::string(kImage));
      w.end_object().end_object().end_object();
      sets.push_back(std::move(set));
    }
  }
  return sets;
}

std::string_view class_of(const MachineOrder& order) {
  const std::string_view named = model::find_or_empty(order.spec.parameters, kClassParameter);
  return named.empty() ? kAtomicClass : named;
}

// Problems that only a change of a MachineType solves.
Result<void> check(const std::vector<MachineOrder>& types, const std::vector<PodSet>& sets) {
  for (const MachineOrder& order : types) {
    if (order.spec.labels.empty()) {
      return fail(failed_precondition("MachineType " + order.type +
                                      " has no labels: set those of its Nodes"));
    }
    if (class_of(order) != class_of(types.front())) {
      return fail(failed_precondition("MachineTypes " + types.front().type + " and " + order.type +
                                      " have different parameters class"));
    }
  }
  if (sets.empty() || sets.size() > kPodSetsMax) {
    return fail(failed_precondition(std::to_string(sets.size()) +
                                    " different kinds of pods, but a ProvisioningRequest holds 1 "
                                    "to " +
                                    std::to_string(kPodSetsMax)));
  }
  return {};
}

std::string request_json(const std::vector<MachineOrder>& types, const std::vector<PodSet>& sets) {
  model::StringMap parameters;
  for (const MachineOrder& order : types) {
    parameters.insert(order.spec.parameters.begin(), order.spec.parameters.end());
  }
  parameters.erase(std::string(kClassParameter));
  parameters.erase(std::string(kImageParameter));
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "autoscaling.x-k8s.io/v1");
  w.member("kind", kProvisioningRequests.kind);
  write_metadata(w, types.front(), types.front().request);
  w.key("spec").begin_object().member("provisioningClassName", class_of(types.front()));
  w.key("parameters").begin_object();
  for (const auto& [key, value] : parameters) {
    w.member(key, value);
  }
  w.end_object().key("podSets").begin_array();
  for (const PodSet& set : sets) {
    w.begin_object().key("podTemplateRef").begin_object().member("name", set.name).end_object();
    w.key("count").integer(set.count).end_object();
  }
  w.end_array().end_object().end_object();
  return body;
}

// "Failed: ProvisioningRequest default/scale-1-0: OutOfCapacity: no room in zone a"
std::string condition_text(const kube::Object& request, const json::Value& condition) {
  std::string text(condition.string_or_empty("type"));
  text += ": " + title(request);
  for (const std::string_view field : {"reason", "message"}) {
    if (const std::string_view words = condition.string_or_empty(field); !words.empty()) {
      text += ": " + std::string(words);
    }
  }
  return text;
}

Task<Result<void>> create_once(kube::Client& client, runtime::Informer& informer, std::string ns,
                               std::string body) {
  const Result<kube::ObjectRef> made =
      co_await client.create(informer.type(), std::move(ns), std::move(body));
  if (made) {
    informer.note_written(**made);
    co_return Result<void>();
  }
  co_return made.error().code == ErrorCode::already_exists ? Result<void>() : fail(made.error());
}

Task<Result<void>> remove(kube::Client& client, const runtime::Informer& informer,
                          kube::ObjectRef object) {
  if (object->deleting()) {
    co_return Result<void>();
  }
  const Result<kube::ObjectRef> removed =
      co_await client.remove(informer.type(), object->key(), {.uid = std::string(object->uid())});
  co_return removed || removed.error().code == ErrorCode::not_found ? Result<void>()
                                                                    : fail(removed.error());
}

// How many machines of the type the Node is: a larger one may hold the pods of several.
std::int64_t machines_in(const model::ResourceList& allocatable,
                         const model::ResourceList& capacity) {
  std::int64_t machines = INT64_MAX;
  for (const auto& [resource, amount] : capacity) {
    if (amount.sign() > 0) {
      machines = std::min(machines, allocatable.get(resource).divided_by(amount));
    }
  }
  return machines;
}

}  // namespace

ProvisioningState provisioning_state(const kube::Object& request) {
  ProvisioningState state;
  const Result<json::Document> parsed = request.parse();
  const json::Value* conditions = parsed ? parsed->root.get({"status", "conditions"}) : nullptr;
  if (conditions == nullptr) {
    state.note = title(request) + " is not accepted yet";
    return state;
  }
  for (const json::Value& condition : conditions->items()) {
    const std::string_view type = condition.string_or_empty("type");
    const bool is_true = condition.string_or_empty("status") == "True";
    if (is_true && (type == "Failed" || type == "BookingExpired" || type == "CapacityRevoked")) {
      state.problem = condition_text(request, condition);
    } else if (type == "Provisioned") {
      state.provisioned = is_true;
      state.note =
          is_true ? title(request) + " is provisioned" : condition_text(request, condition);
    } else if (type == "Accepted" && state.note.empty()) {
      state.note = is_true ? title(request) + " is accepted" : condition_text(request, condition);
    }
  }
  return state;
}

ProvisioningMachines::ProvisioningMachines(runtime::Manager& manager, const QueueDriver& driver)
    : client_(manager.client()),
      requests_(manager.cache().informer(kProvisioningRequests)),
      templates_(manager.cache().informer(kPodTemplates)),
      pods_(manager.cache().informer(kPods).store()),
      nodes_(manager.cache().informer(model::resource_type<model::Node>()).store()),
      driver_(driver) {}

Task<Result<void>> ProvisioningMachines::ask(std::vector<MachineOrder> orders) {
  const std::vector<MachineOrder> types = one_of_each_type(orders);
  const model::ObjectKey key = key_of(types.front());
  CO_TRY(co_await requests_.fresh(key));
  if (requests_.store().get(key) != nullptr) {
    co_return Result<void>();
  }
  std::vector<PodSet> sets = pod_sets_of(types);
  CO_TRY(check(types, sets));
  std::string body = request_json(types, sets);
  for (PodSet& set : sets) {
    if (templates_.store().get({key.ns, set.name}) == nullptr) {
      CO_TRY(co_await create_once(client_, templates_, key.ns, std::move(set.body)));
    }
  }
  CO_TRY(co_await create_once(client_, requests_, key.ns, std::move(body)));
  co_return Result<void>();
}

// A Node without our labels may have come for others.
std::vector<std::string> ProvisioningMachines::arrivals(const MachineOrder& type,
                                                        const std::vector<MachineOrder>& orders,
                                                        bool provisioned) const {
  std::vector<std::string> names;
  for (MachineNodes::Arrival& arrival : nodes_.arrivals(type)) {
    if (std::ranges::find(orders, arrival.node, &MachineOrder::node) == orders.end() &&
        (arrival.ours || (provisioned && !is_node_used(driver_, pods_, arrival.node)))) {
      names.push_back(std::move(arrival.node));
    }
  }
  return names;
}

void ProvisioningMachines::look_at_type(const MachineOrder& type,
                                        const std::vector<MachineOrder>& orders, bool provisioned,
                                        std::vector<MachineView>& views) const {
  const std::vector<std::string> fresh =
      type.arrived ? std::vector<std::string>() : arrivals(type, orders, provisioned);
  std::size_t next = 0;
  std::int64_t wanted = 0;
  std::int64_t held = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (orders[i].type != type.type) {
      continue;
    }
    MachineView& view = views[i];
    view.node = nodes_.is_there(orders[i].node) ? orders[i].node : std::string();
    if (view.node.empty() && next < fresh.size()) {
      view.node = fresh[next++];
    }
    view.there = !view.node.empty();
    const std::string shortage =
        type.arrived ? std::string() : nodes_.shortage(view.node, type.spec.capacity);
    view.ready = nodes_.is_ready(view.node) && shortage.empty();
    view.note = shortage.empty() ? view.note : shortage;
    ++wanted;
    if (view.ready) {
      held += std::min<std::int64_t>(machines_in(nodes_.allocatable(view.node), type.spec.capacity),
                                     INT32_MAX);
    }
  }
  for (std::size_t i = 0; i < orders.size() && !type.arrived && held >= wanted; ++i) {
    MachineView& view = views[i];
    view.ready = view.ready || (orders[i].type == type.type && view.node.empty());
  }
}

std::vector<MachineView> ProvisioningMachines::look(const std::vector<MachineOrder>& orders) const {
  std::vector<MachineView> views(orders.size());
  const kube::ObjectRef request = requests_.store().get(key_of(orders.front()));
  ProvisioningState state;
  if (request != nullptr && request_of(*request) != orders.front().request) {
    state.problem = title(*request) + " is not of this MachineRequest: delete it";
  } else if (request != nullptr) {
    state = provisioning_state(*request);
  }
  for (MachineView& view : views) {
    view.problem = state.problem;
    view.note = state.note;
  }
  for (const MachineOrder& type : one_of_each_type(orders)) {
    look_at_type(type, orders, state.provisioned && state.problem.empty(), views);
  }
  return views;
}

// The Node may have no label of ours yet when the queue uses it.
model::StringMap ProvisioningMachines::pod_annotations(const MachineOrder& order,
                                                       const std::string& node) const {
  const kube::ObjectRef request = requests_.store().get(key_of(order));
  const auto machines = nodes_.arrivals(order);
  if (request == nullptr || request_of(*request) != order.request ||
      std::ranges::find(machines, node, &MachineNodes::Arrival::node) == machines.end()) {
    return {};
  }
  const ProvisioningState state = provisioning_state(*request);
  // Without its capacity the pods are like any others to the autoscaler.
  if (!state.provisioned || !state.problem.empty()) {
    return {};
  }
  return {{std::string(kConsumeAnnotation), std::string(request->name())},
          {std::string(kClassAnnotation), request->string_at({"spec", "provisioningClassName"})}};
}

// The ProvisioningRequest serves until the work is on the machines: the first one that goes back
// takes it along.
Task<Result<bool>> ProvisioningMachines::give_back(MachineOrder order) {
  const model::ObjectKey key = key_of(order);
  CO_TRY(co_await requests_.fresh(key));
  const kube::ObjectRef request = requests_.store().get(key);
  if (request != nullptr && request_of(*request) == order.request) {
    CO_TRY(co_await remove(client_, requests_, request));
    co_return false;
  }
  bool left = false;
  for (const kube::ObjectRef& object : templates_.store().list(key.ns)) {
    if (object->labels_json().contains(order.request) && request_of(*object) == order.request) {
      left = true;
      CO_TRY(co_await remove(client_, templates_, object));
    }
  }
  co_return !left;
}

}  // namespace codeflare::controllers::scale
