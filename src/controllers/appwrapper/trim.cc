#include "controllers/appwrapper/trim.h"

#include "json/value.h"

#include <initializer_list>
#include <string_view>
#include <utility>

namespace codeflare::controllers {

using json::Arena;
using json::Value;
using kube::Object;
using kube::ObjectRef;

namespace {

using Names = std::initializer_list<std::string_view>;

// The named members of an object, as far as it has them; shares what is below them.
Value pick(Arena& arena, const Value* from, Names names) {
  Value picked = Value::object();
  for (const std::string_view name : names) {
    if (const Value* member = from == nullptr ? nullptr : from->find(name)) {
      picked.set_static(arena, name, *member);
    }
  }
  return picked;
}

void put(Arena& arena, Value& object, std::string_view name, const Value& member) {
  if (member.size() > 0) {
    object.set_static(arena, name, member);
  }
}

Value identity(Arena& arena, const Value& root) {
  return pick(
      arena, root.find("metadata"),
      {"name", "namespace", "uid", "resourceVersion", "generation", "labels", "ownerReferences",
       "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"});
}

Value containers(Arena& arena, const Value* list) {
  Value kept = Value::array();
  for (const Value& container : list == nullptr ? std::span<const Value>() : list->items()) {
    kept.push_back(arena, pick(arena, &container, {"name", "resources", "restartPolicy"}));
  }
  return kept;
}

// Only what a scheduler says.
Value scheduling_conditions(Arena& arena, const Value* status) {
  const Value* all = status == nullptr ? nullptr : status->find("conditions");
  Value kept = Value::array();
  for (const Value& condition : all == nullptr ? std::span<const Value>() : all->items()) {
    if (condition.string_or_empty("type") == "PodScheduled") {
      kept.push_back(arena, condition);
    }
  }
  return kept;
}

// Whether it is ready, without the times: heartbeats are no news.
Value readiness(Arena& arena, const Value* status) {
  const Value* all = status == nullptr ? nullptr : status->find("conditions");
  Value kept = Value::array();
  for (const Value& condition : all == nullptr ? std::span<const Value>() : all->items()) {
    if (condition.string_or_empty("type") == "Ready") {
      kept.push_back(arena, pick(arena, &condition, {"type", "status"}));
    }
  }
  return kept;
}

// How many pods it is to have, by template.
Value counts(Arena& arena, const Value* spec) {
  Value kept = pick(arena, spec, {"replicas", "parallelism", "completions"});
  const Value* groups = spec == nullptr ? nullptr : spec->find("workerGroupSpecs");
  Value kept_groups = Value::array();
  for (const Value& group : groups == nullptr ? std::span<const Value>() : groups->items()) {
    kept_groups.push_back(
        arena, pick(arena, &group, {"replicas", "minReplicas", "maxReplicas", "numOfHosts"}));
  }
  put(arena, kept, "workerGroupSpecs", kept_groups);
  const Value* roles = spec == nullptr ? nullptr : spec->find("pytorchReplicaSpecs");
  Value kept_roles = Value::object();
  for (const json::Member& role :
       roles == nullptr ? std::span<const json::Member>() : roles->members()) {
    kept_roles.set_static(arena, role.key, pick(arena, &role.value, {"replicas"}));
  }
  put(arena, kept, "pytorchReplicaSpecs", kept_roles);
  return kept;
}

template <typename Keep>
ObjectRef trimmed(ObjectRef object, Keep keep) {
  Result<json::Document> parsed = object->parse();
  if (!parsed) {
    return object;
  }
  Arena& arena = parsed->arena;
  const Value& root = parsed->root;
  Value kept = pick(arena, &root, {"apiVersion", "kind"});
  kept.set_static(arena, "metadata", identity(arena, root));
  keep(arena, root, kept);
  Result<ObjectRef> made = Object::from_value(kept);
  return made ? *made : object;
}

}  // namespace

ObjectRef trimmed_pod(ObjectRef pod) {
  return trimmed(std::move(pod), [](Arena& arena, const Value& root, Value& kept) {
    const Value* from = root.find("spec");
    const bool bound = from != nullptr && !from->string_or_empty("nodeName").empty();
    Value spec = pick(arena, from,
                      {"nodeName", "schedulerName", "priority", "priorityClassName",
                       "activeDeadlineSeconds", "overhead", "resources", "schedulingGates"});
    if (!bound) {
      const Value constraints = pick(
          arena, from, {"nodeSelector", "affinity", "tolerations", "topologySpreadConstraints"});
      for (const json::Member& member : constraints.members()) {
        spec.set_static(arena, member.key, member.value);
      }
    }
    put(arena, spec, "containers",
        containers(arena, from == nullptr ? nullptr : from->find("containers")));
    put(arena, spec, "initContainers",
        containers(arena, from == nullptr ? nullptr : from->find("initContainers")));
    const Value* status_from = root.find("status");
    Value status = pick(arena, status_from, {"phase", "nominatedNodeName"});
    put(arena, status, "conditions", scheduling_conditions(arena, status_from));
    put(arena, kept, "spec", spec);
    put(arena, kept, "status", status);
  });
}

ObjectRef trimmed_node(ObjectRef node) {
  return trimmed(std::move(node), [](Arena& arena, const Value& root, Value& kept) {
    put(arena, kept, "spec", pick(arena, root.find("spec"), {"unschedulable", "taints"}));
    const Value* from = root.find("status");
    Value status = pick(arena, from, {"allocatable", "capacity"});
    put(arena, status, "conditions", readiness(arena, from));
    put(arena, kept, "status", status);
  });
}

ObjectRef trimmed_item(ObjectRef item) {
  return trimmed(std::move(item), [](Arena& arena, const Value& root, Value& kept) {
    put(arena, kept, "spec", counts(arena, root.find("spec")));
    put(arena, kept, "status",
        pick(arena, root.find("status"),
             {"conditions", "phase", "jobStatus", "jobDeploymentStatus", "reason", "message"}));
  });
}

}  // namespace codeflare::controllers
