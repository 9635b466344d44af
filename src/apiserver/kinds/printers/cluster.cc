#include "apiserver/kinds/printers/row.h"

#include <set>

namespace codeflare::apiserver::printing {
namespace {

std::string node_state(const Row& row) {
  std::string out = "Unknown";
  if (const json::Value* ready = condition(row.status, "Ready")) {
    out = text_at(*ready, "status") == "True" ? "Ready" : "NotReady";
  }
  return true_at(row.spec, "unschedulable") ? out + ",SchedulingDisabled" : out;
}

// From the labels node-role.kubernetes.io/<role> and kubernetes.io/role=<role>.
std::string node_roles(const json::Value& labels) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const json::Member& label : labels.members()) {
    if (label.key.starts_with(kPrefix)) {
      roles.emplace(label.key.substr(kPrefix.size()));
    } else if (label.key == "kubernetes.io/role") {
      roles.emplace(text_at(labels, label.key));
    }
  }
  roles.erase("");
  return join({roles.begin(), roles.end()});
}

std::string_view address(const json::Value& status, std::string_view type) {
  for (const json::Value& item : items_at(status, "addresses")) {
    if (text_at(item, "type") == type) {
      return text_at(item, "address");
    }
  }
  return kNone;
}

void print_node(Row& row) {
  const json::Value& info = object_at(row.status, "nodeInfo");
  row.name()
      .text(node_state(row))
      .text_or(node_roles(object_at(row.metadata, "labels")), kNone)
      .age()
      .text(text_at(info, "kubeletVersion"))
      .text(address(row.status, "InternalIP"))
      .text(address(row.status, "ExternalIP"))
      .text_or(text_at(info, "osImage"), kUnknown)
      .text_or(text_at(info, "kernelVersion"), kUnknown)
      .text_or(text_at(info, "containerRuntimeVersion"), kUnknown);
}

void print_namespace(Row& row) {
  row.name().text_or(text_at(row.status, "phase"), "Active").age();
}

void print_component(Row& row) {
  const json::Value* healthy = condition(row.object, "Healthy");
  if (healthy == nullptr) {
    row.name().text("Unknown").text("").text("");
    return;
  }
  row.name()
      .text(text_at(*healthy, "status") == "True" ? "Healthy" : "Unhealthy")
      .text(text_at(*healthy, "message"))
      .text(text_at(*healthy, "error"));
}

void print_lease(Row& row) {
  row.name().text(text_at(row.spec, "holderIdentity")).age();
}

void print_priority_class(Row& row) {
  row.name()
      .integer(count_at(row.object, "value"))
      .boolean(true_at(row.object, "globalDefault"))
      .age()
      .text_or(text_at(row.object, "preemptionPolicy"), "PreemptLowerPriority");
}

void print_runtime_class(Row& row) {
  row.name().text(text_at(row.object, "handler")).age();
}

std::string availability(const json::Value& status) {
  const json::Value* available = condition(status, "Available");
  if (available == nullptr) {
    return "Unknown";
  }
  std::string out(text_at(*available, "status"));
  std::string_view reason = text_at(*available, "reason");
  return out == "True" || reason.empty() ? out : out + " (" + std::string(reason) + ")";
}

void print_api_service(Row& row) {
  std::string served_by = "Local";
  if (!absent(row.spec, "service")) {
    const json::Value& service = object_at(row.spec, "service");
    served_by =
        std::string(text_at(service, "namespace")) + "/" + std::string(text_at(service, "name"));
  }
  row.name().text(served_by).text(availability(row.status)).age();
}

void print_flow_schema(Row& row) {
  const json::Value* dangling = condition(row.status, "Dangling");
  row.name()
      .text(text_at(object_at(row.spec, "priorityLevelConfiguration"), "name"))
      .integer(integer_at(row.spec, "matchingPrecedence").value_or(1000))
      .text(absent(row.spec, "distinguisherMethod")
                ? kNone
                : text_at(object_at(row.spec, "distinguisherMethod"), "type"))
      .age()
      .text(dangling == nullptr ? "?" : text_at(*dangling, "status"));
}

void print_priority_level(Row& row) {
  const json::Value& limited = object_at(row.spec, "limited");
  const json::Value& response = object_at(limited, "limitResponse");
  const json::Value& queuing = object_at(response, "queuing");
  row.name().text(text_at(row.spec, "type"));
  auto number = [&](bool present, const json::Value& parent, std::string_view key,
                    std::int64_t otherwise) {
    if (present) {
      row.integer(integer_at(parent, key).value_or(otherwise));
    } else {
      row.text(kNone);
    }
  };
  const bool queues = !absent(response, "queuing");
  number(!absent(row.spec, "limited"), limited, "nominalConcurrencyShares", 30);
  number(queues, queuing, "queues", 64);
  number(queues, queuing, "handSize", 8);
  number(queues, queuing, "queueLengthLimit", 50);
  row.age();
}

}  // namespace

std::vector<KindPrinter> cluster_printers() {
  return {
      {.group = "",
       .plural = "nodes",
       .columns = {name_column(), text_column("Status"), text_column("Roles"), age_column(),
                   text_column("Version"), wide_column("Internal-IP"), wide_column("External-IP"),
                   wide_column("OS-Image"), wide_column("Kernel-Version"),
                   wide_column("Container-Runtime")},
       .print = print_node},
      {.group = "",
       .plural = "namespaces",
       .columns = {name_column(), text_column("Status"), age_column()},
       .print = print_namespace},
      {.group = "",
       .plural = "componentstatuses",
       .columns = {name_column(), text_column("Status"), text_column("Message"),
                   text_column("Error")},
       .print = print_component},
      {.group = "coordination.k8s.io",
       .plural = "leases",
       .columns = {name_column(), text_column("Holder"), age_column()},
       .print = print_lease},
      {.group = "scheduling.k8s.io",
       .plural = "priorityclasses",
       .columns = {name_column(), integer_column("Value"), boolean_column("Global-Default"),
                   age_column(), text_column("PreemptionPolicy")},
       .print = print_priority_class},
      {.group = "node.k8s.io",
       .plural = "runtimeclasses",
       .columns = {name_column(), text_column("Handler"), age_column()},
       .print = print_runtime_class},
      {.group = "apiregistration.k8s.io",
       .plural = "apiservices",
       .columns = {name_column(), text_column("Service"), text_column("Available"), age_column()},
       .print = print_api_service},
      {.group = "apiextensions.k8s.io",
       .plural = "customresourcedefinitions",
       .columns = creation_columns(),
       .print = print_creation},
      {.group = "flowcontrol.apiserver.k8s.io",
       .plural = "flowschemas",
       .columns = {name_column(), text_column("PriorityLevel"), text_column("MatchingPrecedence"),
                   text_column("DistinguisherMethod"), age_column(), text_column("MissingPL")},
       .print = print_flow_schema},
      {.group = "flowcontrol.apiserver.k8s.io",
       .plural = "prioritylevelconfigurations",
       .columns = {name_column(), text_column("Type"), text_column("NominalConcurrencyShares"),
                   text_column("Queues"), text_column("HandSize"), text_column("QueueLengthLimit"),
                   age_column()},
       .print = print_priority_level},
  };
}

}  // namespace codeflare::apiserver::printing
