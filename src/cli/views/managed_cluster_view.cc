#include "cli/views/managed_cluster_view.h"

#include "cli/views/table.h"
#include "cli/views/wrapper_view.h"
#include "model/condition.h"
#include "model/resource_text.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace codeflare::cli {

namespace {

std::string labels_text(const model::StringMap& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    text += (text.empty() ? "" : ",") + key + "=" + value;
  }
  return text.empty() ? "-" : text;
}

std::string cost_text(double cost) {
  json::Arena arena;
  return std::string(json::Value::real(arena, cost).number());
}

std::string column_name(std::string resource) {
  std::ranges::transform(resource, resource.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return resource;
}

json::Value amounts_value(const model::ResourceList& list, json::Arena& arena) {
  json::Value object = json::Value::object();
  for (const auto& [name, amount] : list) {
    object.set(arena, name, json::Value::string(arena, amount.to_string()));
  }
  return object;
}

}  // namespace

Connection connection_of(const model::ManagedCluster& cluster) {
  const model::Condition* condition =
      model::find_condition(cluster.status.conditions, model::managed_cluster::kConnected);
  if (condition == nullptr) {
    return {.connected = false,
            .word = "unknown",
            .message = "no status yet; check that the controller of the hub is running"};
  }
  const bool connected = condition->status == "True";
  return {.connected = connected,
          .word = connected ? "yes" : condition->reason,
          .message = connected ? "" : condition->message};
}

std::string render_clusters(std::vector<model::ManagedCluster> clusters, bool wide, WallTime now) {
  std::ranges::sort(clusters, {}, [](const auto& each) { return each.metadata.name; });
  Table table({"NAME", "CONNECTED", "NODES", "DISPATCHED", "WAITING", "PAUSED", "SEEN", "AGE"});
  if (wide) {
    for (const char* name : {"COST", "LABELS", "SERVER", "VERSION", "MESSAGE"}) {
      table.add_column(name);
    }
  }
  for (const model::ManagedCluster& cluster : clusters) {
    const model::ManagedClusterStatus& status = cluster.status;
    const Connection connection = connection_of(cluster);
    std::vector<std::string> row = {
        cluster.metadata.name,
        connection.word,
        std::to_string(status.nodes),
        std::to_string(status.dispatched),
        std::to_string(status.waiting),
        cluster.spec.paused ? "yes" : "no",
        status.last_seen ? age_text(*status.last_seen, now) : "-",
        age_text(cluster.metadata.creation_timestamp.value_or(WallTime()), now)};
    if (wide) {
      row.insert(row.end(), {cost_text(cluster.spec.cost), labels_text(cluster.metadata.labels),
                             status.server.empty() ? "-" : status.server,
                             status.version.empty() ? "-" : status.version, connection.message});
    }
    table.add_row(std::move(row));
  }
  return table.to_text();
}

ClusterUse use_of(const model::ManagedCluster& cluster) {
  return {.name = cluster.metadata.name,
          .connected = connection_of(cluster).word,
          .nodes = cluster.status.nodes,
          .capacity = cluster.status.capacity,
          .free = cluster.status.free,
          .dispatched = cluster.status.dispatched,
          .waiting = cluster.status.waiting};
}

std::string render_cluster_use(const std::vector<ClusterUse>& clusters) {
  // Pods and disks are rarely what is short.
  std::set<std::string> others;
  for (const ClusterUse& each : clusters) {
    for (const auto& [name, amount] : each.capacity) {
      if (name.contains('/') && amount.sign() > 0) {
        others.insert(name);
      }
    }
  }
  std::vector<std::string> resources = {"cpu", "memory"};
  resources.insert(resources.end(), others.begin(), others.end());
  Table table({"CLUSTER", "CONNECTED", "NODES"});
  for (const std::string& resource : resources) {
    table.add_column(column_name(resource));
  }
  table.add_column("DISPATCHED");
  table.add_column("WAITING");
  for (const ClusterUse& each : clusters) {
    std::vector<std::string> row = {each.name, each.connected, std::to_string(each.nodes)};
    for (const std::string& resource : resources) {
      const model::Quantity all = each.capacity.get(resource);
      const model::Quantity taken = (each.capacity - each.free).get(resource);
      row.push_back(model::human_amount(resource, taken) + "/" +
                    model::human_amount(resource, all));
    }
    row.push_back(std::to_string(each.dispatched));
    row.push_back(std::to_string(each.waiting));
    table.add_row(std::move(row));
  }
  return table.to_text();
}

json::Value cluster_use_value(const std::vector<ClusterUse>& clusters, json::Arena& arena) {
  json::Value list = json::Value::array();
  for (const ClusterUse& each : clusters) {
    json::Value entry = json::Value::object();
    entry.set(arena, "name", json::Value::string(arena, each.name));
    entry.set(arena, "connected", json::Value::string(arena, each.connected));
    entry.set(arena, "nodes", json::Value::integer(arena, each.nodes));
    entry.set(arena, "capacity", amounts_value(each.capacity, arena));
    entry.set(arena, "free", amounts_value(each.free, arena));
    entry.set(arena, "dispatched", json::Value::integer(arena, each.dispatched));
    entry.set(arena, "waiting", json::Value::integer(arena, each.waiting));
    list.push_back(arena, entry);
  }
  return list;
}

}  // namespace codeflare::cli
