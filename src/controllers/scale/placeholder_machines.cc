#include "controllers/scale/placeholder_machines.h"

#include "controllers/pods_type.h"
#include "controllers/scale/machine_nodes.h"
#include "controllers/scale/shape.h"
#include "json/write.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/resources.h"
#include "queue/machines.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::controllers::scale {

namespace {

const model::ResourceType kPriorityClasses{.group = "scheduling.k8s.io",
                                           .version = "v1",
                                           .kind = "PriorityClass",
                                           .plural = "priorityclasses",
                                           .namespaced = false};

std::string class_json() {
  std::string body;
  json::Writer w(body);
  w.begin_object()
      .member("apiVersion", "scheduling.k8s.io/v1")
      .member("kind", "PriorityClass")
      .key("metadata")
      .begin_object()
      .member("name", kPlaceholderClass)
      .end_object()
      .key("value")
      .integer(kPlaceholderPriority)
      .member("preemptionPolicy", "Never")
      .member("description", "pods that hold room for work of the codeflare queue")
      .end_object();
  return body;
}

// Two types of a request have different pods: the number of its first machine tells them apart.
std::string prefix_of(const MachineOrder& order) {
  return order.request + "-" + type_suffix(order.type) + "-";
}

Result<void> unless_exists(const Result<kube::ObjectRef>& made) {
  return made || made.error().code == ErrorCode::already_exists ? Result<void>()
                                                                : fail(made.error());
}

}  // namespace

std::vector<std::string> placeholder_names(const MachineOrder& order) {
  std::vector<std::string> names;
  for (const model::MachinePods& pods : order.pods) {
    for (std::int64_t i = 0; i < pods.count; ++i) {
      names.push_back(prefix_of(order) + std::to_string(names.size()));
    }
  }
  return names;
}

std::string placeholder_json(const MachineOrder& order, const model::MachinePods& pods,
                             const model::ObjectKey& key, const std::string& image) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "v1").member("kind", "Pod");
  w.key("metadata").begin_object().member("name", key.name).member("namespace", key.ns);
  w.key("labels").begin_object();
  w.member(queue::kPlaceholderLabel, order.request);
  w.member(queue::kMachineTypeLabel, order.type).end_object();
  w.key("annotations").begin_object();
  w.member("karpenter.sh/do-not-disrupt", "true");
  w.member("cluster-autoscaler.kubernetes.io/safe-to-evict", "false").end_object().end_object();
  w.key("spec").begin_object();
  w.member("priorityClassName", kPlaceholderClass);
  w.key("terminationGracePeriodSeconds").integer(0);
  w.key("automountServiceAccountToken").boolean(false);
  w.key("enableServiceLinks").boolean(false);
  write_shape(w, order, pods, image);
  w.end_object().end_object();
  return body;
}

PlaceholderMachines::PlaceholderMachines(runtime::Manager& manager, PlaceholderOptions options)
    : client_(manager.client()),
      pods_(manager.cache().informer(kPods).store()),
      nodes_(manager.cache().informer(model::resource_type<model::Node>()).store()),
      options_(std::move(options)) {}

Task<Result<void>> PlaceholderMachines::ensure_class() {
  if (class_exists_) {
    co_return Result<void>();
  }
  CO_TRY(unless_exists(co_await client_.create(kPriorityClasses, "", class_json())));
  class_exists_ = true;
  co_return Result<void>();
}

Task<Result<void>> PlaceholderMachines::ask_type(MachineOrder order) {
  const auto named = order.spec.parameters.find(std::string(kImageParameter));
  const std::string image = named == order.spec.parameters.end() ? options_.image : named->second;
  if (image.empty()) {
    co_return fail(failed_precondition("MachineType " + order.type +
                                       " has no parameter image: set one that runs until it is "
                                       "stopped, such as Kubernetes' pause"));
  }
  const std::vector<std::string> names = placeholder_names(order);
  std::size_t next = 0;
  for (const model::MachinePods& pods : order.pods) {
    for (std::int64_t i = 0; i < pods.count; ++i) {
      const model::ObjectKey key{options_.ns, names[next++]};
      const kube::ObjectRef there = pods_.get(key);
      if (there == nullptr) {
        std::string body = placeholder_json(order, pods, key, image);
        CO_TRY(unless_exists(co_await client_.create(kPods, key.ns, std::move(body))));
      } else if (there->string_at({"status", "phase"}) == "Failed") {
        // Made anew once it is gone.
        CO_TRY(co_await remove(key.name));
      }
    }
  }
  co_return Result<void>();
}

Task<Result<void>> PlaceholderMachines::ask(std::vector<MachineOrder> orders) {
  CO_TRY(co_await ensure_class());
  for (MachineOrder& order : one_of_each_type(orders)) {
    CO_TRY(co_await ask_type(std::move(order)));
  }
  co_return Result<void>();
}

bool PlaceholderMachines::is_ready(const std::string& name) const {
  const kube::ObjectRef object = name.empty() ? nullptr : nodes_.get({"", name});
  const Result<model::Node> node =
      object == nullptr ? fail(not_found("no node")) : object->as<model::Node>();
  return node && model::is_condition_true(node->status.conditions, "Ready");
}

bool PlaceholderMachines::is_machine_of_others(const MachineOrder& order,
                                               const std::string& node) const {
  const kube::ObjectRef object = nodes_.get({"", node});
  const std::string request =
      object == nullptr ? "" : object->string_at({"metadata", "labels", queue::kRequestLabel});
  return !request.empty() && request != order.request;
}

PlaceholderMachines::Held PlaceholderMachines::held_for(const MachineOrder& order) const {
  Held held;
  std::vector<std::tuple<WallTime, std::string>> found;
  for (const std::string& name : placeholder_names(order)) {
    const kube::ObjectRef pod = pods_.get({options_.ns, name});
    const std::string place =
        pod == nullptr || pod->deleting() || pod->string_at({"status", "phase"}) == "Failed"
            ? ""
            : pod->string_at({"spec", "nodeName"});
    held.complete = held.complete && is_ready(place);
    const kube::ObjectRef object = place.empty() ? nullptr : nodes_.get({"", place});
    if (object == nullptr) {
      continue;
    }
    const Result<model::Node> node = object->as<model::Node>();
    const WallTime made =
        node ? node->metadata.creation_timestamp.value_or(WallTime{}) : WallTime{};
    // Nodes that were there before are nobody's machines.
    if (made >= order.asked && !is_machine_of_others(order, place)) {
      found.emplace_back(made, place);
    }
  }
  std::ranges::sort(found);
  const auto [begin, end] = std::ranges::unique(found);
  found.erase(begin, end);
  for (auto& [made, name] : found) {
    held.nodes.push_back(std::move(name));
  }
  return held;
}

std::vector<MachineView> PlaceholderMachines::look(const std::vector<MachineOrder>& orders) const {
  std::vector<MachineView> views(orders.size());
  for (const MachineOrder& type : one_of_each_type(orders)) {
    Held held = held_for(type);
    for (const MachineOrder& order : orders) {
      std::erase(held.nodes, order.node);
    }
    std::size_t next = 0;
    std::size_t machines = 0;
    MachineView* last = nullptr;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i].type != type.type) {
        continue;
      }
      MachineView& view = *(last = &views[i]);
      ++machines;
      // A Node that the autoscaler removed meanwhile does not count; another one may come.
      view.node = nodes_.get({"", orders[i].node}) != nullptr ? orders[i].node : std::string();
      if (view.node.empty() && !orders[i].arrived && next < held.nodes.size()) {
        view.node = held.nodes[next++];
      }
      const bool is_up = is_ready(view.node);
      view.there = nodes_.get({"", view.node}) != nullptr;
      // A larger node than expected may hold the pods of several machines.
      view.ready = orders[i].arrived ? is_up : held.complete && (view.node.empty() || is_up);
    }
    if (next < held.nodes.size() && !type.arrived) {
      last->problem = "the autoscaler made more than " + std::to_string(machines) +
                      (machines == 1 ? " node" : " nodes") +
                      ": lower the capacity of MachineType " + type.type;
    }
  }
  return views;
}

Task<Result<void>> PlaceholderMachines::remove(std::string name) {
  const model::ObjectKey key{options_.ns, std::move(name)};
  if (pods_.get(key) == nullptr) {
    co_return Result<void>();
  }
  const Result<kube::ObjectRef> removed =
      co_await client_.remove(kPods, key, {.grace_period_seconds = 0});
  co_return removed || removed.error().code == ErrorCode::not_found ? Result<void>()
                                                                    : fail(removed.error());
}

// The taint of the request keeps the room until the queue has placed the work.
Task<Result<void>> PlaceholderMachines::hand_over(std::vector<MachineOrder> orders) {
  if (!options_.binds) {
    co_return Result<void>();
  }
  for (const MachineOrder& order : one_of_each_type(orders)) {
    for (std::string& name : placeholder_names(order)) {
      CO_TRY(co_await remove(std::move(name)));
    }
  }
  co_return Result<void>();
}

Task<Result<bool>> PlaceholderMachines::give_back(MachineOrder order) {
  bool left = false;
  for (std::string& name : placeholder_names(order)) {
    const kube::ObjectRef pod = pods_.get({options_.ns, name});
    const std::string place = pod == nullptr ? "" : pod->string_at({"spec", "nodeName"});
    const kube::ObjectRef node = place.empty() ? nullptr : nodes_.get({"", place});
    // Those on other machines of the request go with these machines.
    const bool elsewhere =
        node != nullptr && place != order.node &&
        node->string_at({"metadata", "labels", queue::kRequestLabel}) == order.request;
    if (pod != nullptr && !elsewhere) {
      left = true;
      CO_TRY(co_await remove(std::move(name)));
    }
  }
  co_return !left;
}

}  // namespace codeflare::controllers::scale
