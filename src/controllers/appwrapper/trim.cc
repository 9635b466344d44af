#include "controllers/appwrapper/trim.h"

#include "json/value.h"
#include "queue/kinds/kinds.h"
#include "queue/pod_trouble.h"

#include <initializer_list>
#include <span>
#include <string>
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

// With their images when people will read of them.
Value containers(Arena& arena, const Value* list, bool images) {
  Value kept = Value::array();
  for (const Value& container : list == nullptr ? std::span<const Value>() : list->items()) {
    kept.push_back(arena,
                   images ? pick(arena, &container, {"name", "resources", "restartPolicy", "image"})
                          : pick(arena, &container, {"name", "resources", "restartPolicy"}));
  }
  return kept;
}

bool ended_badly(const Value* state) {
  const Value* end = state == nullptr ? nullptr : state->find("terminated");
  const Value* code = end == nullptr ? nullptr : end->find("exitCode");
  return code != nullptr && code->is_number() && code->to_int64().value_or(0) != 0;
}

// It waits for something else than its turn and its files.
bool waits_in_trouble(const Value* state) {
  const Value* waiting = state == nullptr ? nullptr : state->find("waiting");
  const std::string_view reason =
      waiting == nullptr ? std::string_view() : waiting->string_or_empty("reason");
  return !reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing";
}

// Each of its members with the last line of what its container wrote.
Value shortened(Arena& arena, const Value* state) {
  Value kept = Value::object();
  for (const std::string_view name : {"waiting", "terminated"}) {
    const Value* member = state == nullptr ? nullptr : state->find(name);
    if (member == nullptr) {
      continue;
    }
    Value part = pick(arena, member, {"reason", "exitCode", "finishedAt"});
    if (const std::string line = queue::last_line(member->string_or_empty("message"));
        !line.empty()) {
      part.set_static(arena, "message", Value::string(arena, line));
    }
    kept.set_static(arena, name, part);
  }
  return kept;
}

// Of containers that are in trouble; most have none.
Value troubled_statuses(Arena& arena, const Value* list) {
  Value kept = Value::array();
  for (const Value& status : list == nullptr ? std::span<const Value>() : list->items()) {
    const Value* state = status.find("state");
    if (ended_badly(state) || waits_in_trouble(state)) {
      Value part = pick(arena, &status, {"name", "restartCount"});
      part.set_static(arena, "state", shortened(arena, state));
      put(arena, part, "lastState", shortened(arena, status.find("lastState")));
      kept.push_back(arena, part);
    }
  }
  return kept;
}

// Only what a scheduler says, and who ended it.
Value scheduling_conditions(Arena& arena, const Value* status) {
  const Value* all = status == nullptr ? nullptr : status->find("conditions");
  Value kept = Value::array();
  for (const Value& condition : all == nullptr ? std::span<const Value>() : all->items()) {
    const std::string_view type = condition.string_or_empty("type");
    if (type == "PodScheduled" || type == "DisruptionTarget") {
      kept.push_back(arena, condition);
    }
  }
  return kept;
}

// Whether it is ready, without the times: heartbeats do not count.
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
    const Value* status_from = root.find("status");
    Value status = pick(arena, status_from, {"phase", "nominatedNodeName", "reason", "message"});
    bool troubled = false;
    for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
      const Value kept_statuses =
          troubled_statuses(arena, status_from == nullptr ? nullptr : status_from->find(list));
      troubled = troubled || kept_statuses.size() > 0;
      put(arena, status, list, kept_statuses);
    }
    for (const std::string_view list : {"containers", "initContainers"}) {
      put(arena, spec, list,
          containers(arena, from == nullptr ? nullptr : from->find(list), troubled));
    }
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
