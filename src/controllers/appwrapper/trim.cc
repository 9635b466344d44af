#include "controllers/appwrapper/trim.h"

#include "json/value.h"
#include "queue/kinds/kinds.h"

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace codeflare::controllers {

using json::Arena;
using json::Value;
using kube::Object;
using kube::ObjectRef;

namespace {

// The named members of an object, as far as it has them; shares what is below them.
Value pick(Arena& arena, const Value* from, std::span<const std::string_view> names) {
  Value picked = Value::object();
  for (const std::string_view name : names) {
    if (const Value* member = from == nullptr ? nullptr : from->find(name)) {
      picked.set_static(arena, name, *member);
    }
  }
  return picked;
}

Value pick(Arena& arena, const Value* from, std::initializer_list<std::string_view> names) {
  return pick(arena, from, std::span(names.begin(), names.size()));
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

// The named members of each entry of a list or map.
Value pick_each(Arena& arena, const Value* from, std::span<const std::string_view> names) {
  if (from == nullptr || from->is_array()) {
    Value kept = Value::array();
    for (const Value& entry : from == nullptr ? std::span<const Value>() : from->items()) {
      kept.push_back(arena, pick(arena, &entry, names));
    }
    return kept;
  }
  Value kept = Value::object();
  for (const json::Member& entry : from->members()) {
    kept.set_static(arena, entry.key, pick(arena, &entry.value, names));
  }
  return kept;
}

// How many pods it is to have, by template, whatever its kind.
Value counts(Arena& arena, const Value* spec) {
  Value kept = Value::object();
  for (const queue::WrappedKind* kind : queue::wrapped_kinds()) {
    const queue::CountFields& count = kind->count_fields;
    if (!count.list.empty()) {
      put(arena, kept, count.list,
          pick_each(arena, spec == nullptr ? nullptr : spec->find(count.list), count.names));
      continue;
    }
    const Value own = pick(arena, spec, count.names);
    for (const json::Member& member : own.members()) {
      kept.set_static(arena, member.key, member.value);
    }
  }
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
    put(arena, kept, "status", pick(arena, root.find("status"), queue::kReportedEndFields));
  });
}

}  // namespace codeflare::controllers
