#include "cli/simulate/cluster.h"

#include "json/value.h"
#include "json/yaml.h"
#include "model/codec/node.h"
#include "model/node.h"
#include "model/quantity.h"
#include "sched/explanation.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace codeflare::cli::simulate {

namespace {

using sched::Amount;

// Of one resource on all nodes: the core adds and compares such sums.
constexpr Amount kSumMax = 1'000'000'000'000'000'000;

Amount amount_of(std::string_view resource, const model::Quantity& quantity) {
  return resource == "cpu" ? quantity.milli_value() : quantity.value();
}

// `said_by`: the flag or field, for the error.
Result<Amount> parse_amount(std::string_view resource, std::string_view said_by,
                            std::string_view text) {
  const Result<model::Quantity> quantity = model::Quantity::parse(text);
  if (!quantity || quantity->sign() < 0) {
    return fail(invalid_argument(std::string(said_by) +
                                 ": expected an amount such as 4, 500m or 16Gi, got \"" +
                                 std::string(text) + "\""));
  }
  return amount_of(resource, *quantity);
}

// {cpu: 96, memory: 768Gi}
Result<sched::Resources> resources_at(const json::Value* map) {
  sched::Resources out;
  if (map == nullptr || map->is_null()) {
    return out;
  }
  if (!map->is_object()) {
    return fail(invalid_argument("expected resources and amounts"));
  }
  for (const json::Member& member : map->members()) {
    const json::Value& value = member.value;
    if (!value.is_string() && !value.is_number()) {
      return fail(invalid_argument(std::string(member.key) + ": expected an amount"));
    }
    TRY_ASSIGN(const Amount amount,
               parse_amount(member.key, member.key,
                            value.is_string() ? value.as_string() : value.number()));
    out.push_back({std::string(member.key), amount});
  }
  return out;
}

Result<std::int64_t> count_at(const json::Value& entry) {
  const json::Value* count = entry.find("count");
  if (count == nullptr) {
    return 1;
  }
  const std::optional<std::int64_t> value = count->to_int64();
  if (!value || *value < 1 || *value > kNodesMax) {
    return fail(invalid_argument("count: expected a whole number from 1 to 1000000"));
  }
  return *value;
}

Result<void> add_node_group(const json::Value& entry, std::size_t index, Cluster& cluster) {
  if (!entry.is_object()) {
    return fail(invalid_argument("expected an object"));
  }
  TRY_ASSIGN(const std::int64_t count, count_at(entry));
  sched::NodeSpec node;
  auto allocatable = resources_at(entry.find("allocatable"));
  if (!allocatable) {
    return fail(std::move(allocatable).error().with_context("allocatable"));
  }
  node.allocatable = *std::move(allocatable);
  if (const json::Value* labels = entry.find("labels")) {
    for (const json::Member& label : labels->members()) {
      if (!label.value.is_string()) {
        return fail(invalid_argument("labels: " + std::string(label.key) + ": expected text"));
      }
      node.labels.emplace_back(label.key, label.value.as_string());
    }
  }
  std::string name(entry.string_or_empty("name"));
  if (name.empty()) {
    name = "group-" + std::to_string(index);
  }
  if (static_cast<std::int64_t>(cluster.nodes.size()) + count > kNodesMax) {
    return fail(invalid_argument("more than 1000000 nodes"));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    node.name = count == 1 ? name : name + "-" + std::to_string(i);
    cluster.nodes.push_back(node);
  }
  return {};
}

Result<void> add_quota_node(const json::Value& entry, std::size_t /*index*/, Cluster& cluster) {
  sched::QuotaNode node;
  node.name = std::string(entry.string_or_empty("name"));
  if (node.name.empty()) {
    return fail(invalid_argument("name: expected text"));
  }
  node.parent = std::string(entry.string_or_empty("parent"));
  auto limits = resources_at(entry.find("limits"));
  if (!limits) {
    return fail(std::move(limits).error().with_context("limits"));
  }
  node.limits = *std::move(limits);
  const json::Value* hard = entry.find("hard");
  node.hard = hard != nullptr && hard->is_boolean() && hard->as_bool();
  cluster.quota.push_back(std::move(node));
  return {};
}

std::optional<sched::Effect> effect_of(std::string_view text) {
  if (text == "NoSchedule") {
    return sched::Effect::no_schedule;
  }
  if (text == "PreferNoSchedule") {
    return sched::Effect::prefer_no_schedule;
  }
  if (text == "NoExecute") {
    return sched::Effect::no_execute;
  }
  return std::nullopt;
}

Result<void> add_node(const json::Value& object, std::size_t /*index*/, Cluster& cluster) {
  TRY_ASSIGN(const model::Node node, model::from_json<model::Node>(object));
  sched::NodeSpec spec{.name = node.metadata.name};
  for (const auto& [key, value] : node.metadata.labels) {
    spec.labels.emplace_back(key, value);
  }
  for (const model::Taint& taint : node.spec.taints) {
    if (const auto effect = effect_of(taint.effect)) {
      spec.taints.push_back({taint.key, taint.value, *effect});
    }
  }
  for (const auto& [name, quantity] : node.status.allocatable) {
    spec.allocatable.push_back({name, amount_of(name, quantity)});
  }
  spec.unschedulable = node.spec.unschedulable;
  cluster.nodes.push_back(std::move(spec));
  return {};
}

template <typename Add>
Result<void> add_all(const json::Value& parent, std::string_view member, Cluster& cluster,
                     Add add) {
  const json::Value* list = parent.find(member);
  if (list == nullptr) {
    return {};
  }
  if (!list->is_array()) {
    return fail(invalid_argument(std::string(member) + ": expected a list"));
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    Result<void> added = add(list->items()[i], i, cluster);
    if (!added) {
      return fail(std::move(added).error().with_context(std::string(member) + "[" +
                                                        std::to_string(i) + "]"));
    }
  }
  return {};
}

Result<void> add_document(const json::Value& root, Cluster& cluster) {
  const std::string_view kind = root.string_or_empty("kind");
  if (kind == "Node") {
    return add_node(root, 0, cluster);
  }
  if (kind == "List" || kind == "NodeList") {
    return add_all(root, "items", cluster, add_node);
  }
  if (!kind.empty() || !root.is_object()) {
    return fail(invalid_argument("expected Nodes, or an object with nodes and quota"));
  }
  for (const json::Member& member : root.members()) {
    if (member.key != "nodes" && member.key != "quota") {
      return fail(
          invalid_argument(std::string(member.key) + ": unknown; expected nodes and quota"));
    }
  }
  TRY(add_all(root, "nodes", cluster, add_node_group));
  return add_all(root, "quota", cluster, add_quota_node);
}

Result<void> check_sums(const Cluster& cluster) {
  std::map<std::string, Amount> sum;
  for (const sched::NodeSpec& node : cluster.nodes) {
    for (const sched::Resource& resource : node.allocatable) {
      Amount& all = sum[resource.name];
      if (resource.amount > kSumMax - all) {
        return fail(invalid_argument(
            "the nodes have more " + resource.name +
            " than can be counted: " + sched::amount_text(resource.name, resource.amount) +
            " on node " + node.name + " alone"));
      }
      all += std::max<Amount>(resource.amount, 0);
    }
  }
  return {};
}

}  // namespace

std::map<std::string, Amount> capacity_of(const Cluster& cluster) {
  std::map<std::string, Amount> sum;
  for (const sched::NodeSpec& node : cluster.nodes) {
    for (const sched::Resource& resource : node.allocatable) {
      sum[resource.name] += resource.amount;
    }
  }
  return sum;
}

std::map<std::string, Amount> largest_of(const Cluster& cluster) {
  std::map<std::string, Amount> most;
  for (const sched::NodeSpec& node : cluster.nodes) {
    for (const sched::Resource& resource : node.allocatable) {
      Amount& amount = most[resource.name];
      amount = std::max(amount, resource.amount);
    }
  }
  return most;
}

Result<Cluster> make_cluster(const EqualNodes& nodes) {
  if (nodes.count < 1 || nodes.count > kNodesMax) {
    return fail(invalid_argument("--nodes: expected a number from 1 to 1000000"));
  }
  sched::NodeSpec node;
  struct Flag {
    const char* name;
    const char* resource;
    const std::string& text;
  };
  for (const auto& [flag, resource, text] :
       {Flag{"--cpus", "cpu", nodes.cpus}, Flag{"--memory", "memory", nodes.memory},
        Flag{"--gpus", kGpuResource, nodes.gpus}}) {
    if (!text.empty()) {
      TRY_ASSIGN(const Amount amount, parse_amount(resource, flag, text));
      node.allocatable.push_back({resource, amount});
    }
  }
  if (node.allocatable.empty()) {
    return fail(invalid_argument(
        "give --cpus, --gpus or --memory of a node; without them nothing is limited"));
  }
  Cluster cluster;
  for (std::int64_t i = 0; i < nodes.count; ++i) {
    node.name = "node-" + std::to_string(i);
    cluster.nodes.push_back(node);
  }
  TRY(check_sums(cluster));
  return cluster;
}

Result<Cluster> read_cluster(std::string_view text, const std::string& file) {
  auto documents = json::parse_yaml(text);
  if (!documents) {
    return fail(std::move(documents).error().with_context(file));
  }
  Cluster cluster;
  for (std::size_t i = 0; i < documents->size(); ++i) {
    Result<void> added = add_document((*documents)[i].root, cluster);
    if (!added) {
      return fail(
          std::move(added).error().with_context(file + ": document " + std::to_string(i + 1)));
    }
  }
  if (cluster.nodes.empty()) {
    return fail(invalid_argument(file + ": expected nodes, found none"));
  }
  if (const Result<void> counted = check_sums(cluster); !counted) {
    return fail(counted.error().with_context(file));
  }
  return cluster;
}

}  // namespace codeflare::cli::simulate
