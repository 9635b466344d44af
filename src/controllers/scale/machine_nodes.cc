#include "controllers/scale/machine_nodes.h"

#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "queue/machines.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace codeflare::controllers::scale {

namespace {

// Says no without reading the Node, which is most of the work in a large cluster.
bool may_have(std::string_view labels_json, const model::StringMap& labels) {
  return std::ranges::all_of(labels, [&](const auto& label) {
    return labels_json.contains('"' + label.first + '"') &&
           labels_json.contains('"' + label.second + '"');
  });
}

bool is_arrival(const model::Node& node, const MachineOrder& order) {
  const model::StringMap& labels = node.metadata.labels;
  const std::string_view request = model::find_or_empty(labels, queue::kRequestLabel);
  const std::string_view type = model::find_or_empty(labels, queue::kMachineTypeLabel);
  return node.metadata.creation_timestamp.value_or(WallTime{}) >= order.asked &&
         (request.empty() || (request == order.request && type == order.type)) &&
         std::ranges::all_of(order.spec.labels, [&](const auto& label) {
           const auto found = labels.find(label.first);
           return found != labels.end() && found->second == label.second;
         });
}

}  // namespace

Result<model::Node> MachineNodes::read(const std::string& name) const {
  const kube::ObjectRef object = name.empty() ? nullptr : nodes_.get({"", name});
  return object == nullptr ? fail(not_found("no Node " + name)) : object->as<model::Node>();
}

bool MachineNodes::is_there(const std::string& name) const {
  return !name.empty() && nodes_.get({"", name}) != nullptr;
}

bool MachineNodes::is_ready(const std::string& name) const {
  const Result<model::Node> node = read(name);
  return node && model::is_condition_true(node->status.conditions, "Ready");
}

std::string MachineNodes::shortage(const std::string& name,
                                   const model::ResourceList& promised) const {
  const Result<model::Node> node = read(name);
  if (!node) {
    return {};
  }
  for (const auto& [resource, amount] : promised) {
    const model::Quantity has = node->status.allocatable.get(resource);
    if (has < amount) {
      return "Node " + name + " has " + resource + " " + has.to_string() + " of " +
             amount.to_string();
    }
  }
  return {};
}

model::ResourceList MachineNodes::allocatable(const std::string& name) const {
  const Result<model::Node> node = read(name);
  return node ? node->status.allocatable : model::ResourceList();
}

std::vector<MachineNodes::Arrival> MachineNodes::arrivals(const MachineOrder& order) const {
  std::vector<std::tuple<WallTime, std::string, bool>> found;
  for (const kube::ObjectRef& object : nodes_.list()) {
    if (object->deleting() || !may_have(object->labels_json(), order.spec.labels)) {
      continue;
    }
    const Result<model::Node> node = object->as<model::Node>();
    if (node && is_arrival(*node, order)) {
      found.emplace_back(node->metadata.creation_timestamp.value_or(WallTime{}),
                         node->metadata.name,
                         node->metadata.labels.contains(std::string(queue::kRequestLabel)));
    }
  }
  std::ranges::sort(found);
  std::vector<Arrival> arrivals;
  for (auto& [made, name, ours] : found) {
    arrivals.push_back({.node = std::move(name), .ours = ours});
  }
  return arrivals;
}

bool is_node_used(const QueueDriver& driver, const runtime::Store& pods, const std::string& node) {
  if (!driver.active()) {
    return true;
  }
  const queue::Queue::NodeUse use = driver.queue().node_use(node);
  return use.planned || std::ranges::any_of(use.pods, [&](const model::ObjectKey& key) {
           const kube::ObjectRef object = pods.get(key);
           const Result<model::Pod> pod =
               object == nullptr ? fail(not_found("gone")) : object->as<model::Pod>();
           return !pod ||
                  std::ranges::none_of(pod->metadata.owner_references, [](const auto& each) {
                    // Static pods, such as kube-proxy of some clouds, belong to their Node.
                    return each.kind == "DaemonSet" || each.kind == "Node";
                  });
         });
}

std::vector<MachineOrder> one_of_each_type(const std::vector<MachineOrder>& orders) {
  std::map<std::string, MachineOrder> first;
  for (const MachineOrder& order : orders) {
    first.try_emplace(order.type, order);
  }
  std::vector<MachineOrder> each;
  for (auto& [type, order] : first) {
    each.push_back(std::move(order));
  }
  return each;
}

}  // namespace codeflare::controllers::scale
