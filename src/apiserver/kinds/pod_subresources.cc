#include "apiserver/kinds/pod_subresources.h"

#include "apiserver/kinds/pod_spec.h"
#include "apiserver/registry/edit.h"
#include "json/member_index.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";

// Neither subresource changes what is said about the pod.
void keep_metadata(json::Arena& arena, json::Value& pod, const json::Value& old) {
  json::Value& metadata = make_object(arena, pod, "metadata");
  for (std::string_view key : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    copy_member(arena, metadata, object_at(old, "metadata"), key);
  }
}

bool is_mirror(const json::Value& pod) {
  return object_at(pod, {"metadata", "annotations"}).find(kMirror) != nullptr;
}

bool has_pod_resources(const json::Value& pod) {
  const json::Value& resources = object_at(pod, {"spec", "resources"});
  return object_at(resources, "requests").size() + object_at(resources, "limits").size() > 0;
}

// Same containers in the same order.
bool same_names(std::span<const json::Value> now, std::span<const json::Value> before) {
  return std::ranges::equal(now, before, [](const json::Value& a, const json::Value& b) {
    return text_at(a, "name") == text_at(b, "name");
  });
}

// The old containers with what the new ones ask for.
json::Value resized(json::Arena& arena, std::span<const json::Value> now,
                    std::span<const json::Value> before) {
  json::Value list = json::Value::array();
  for (std::size_t i = 0; i < before.size(); ++i) {
    json::Value container = before[i].clone(arena);
    copy_member(arena, container, now[i], "resources");
    copy_member(arena, container, now[i], "resizePolicy");
    list.push_back(arena, container);
  }
  return list;
}

// The container as if nobody had touched cpu and memory.
json::Value with_old_cpu_and_memory(json::Arena& arena, const json::Value& container,
                                    const json::Value& old) {
  json::Value resources = json::Value::object();
  for (std::string_view list : {"limits", "requests"}) {
    const json::Value& before = object_at(object_at(old, "resources"), list);
    if (before.size() == 0) {
      continue;
    }
    json::Value amounts = object_at(object_at(container, "resources"), list).clone(arena);
    copy_member(arena, amounts, before, "cpu");
    copy_member(arena, amounts, before, "memory");
    resources.set_static(arena, list, amounts);
  }
  json::Value result = container.clone(arena);
  result.set_static(arena, "resources", resources);
  return result;
}

bool is_sidecar(const json::Value& init_container) {
  return text_at(init_container, "restartPolicy") == "Always";
}

bool was_removed(const json::Value& amounts, const json::Value& before) {
  json::MemberIndex left(amounts.members());
  return std::ranges::any_of(before.members(), [&](const json::Member& member) {
    return left.find(member.key) == nullptr;
  });
}

void validate_removals(const json::Value& container, const json::Value& old,
                       const std::string& path, FieldErrors& errors) {
  const json::Value& now = object_at(container, "resources");
  const json::Value& before = object_at(old, "resources");
  if (was_removed(object_at(now, "requests"), object_at(before, "requests"))) {
    errors.forbidden(path + ".resources.requests", "resource requests cannot be removed");
  }
  if (was_removed(object_at(now, "limits"), object_at(before, "limits"))) {
    errors.forbidden(path + ".resources.limits", "resource limits cannot be removed");
  }
}

// False when the lists cannot be compared item by item.
bool validate_order(const json::Value& spec, const json::Value& old, std::string_view list,
                    FieldErrors& errors) {
  const auto now = items_at(spec, list);
  const auto before = items_at(old, list);
  if (now.size() != before.size()) {
    errors.forbidden(child("spec", list),
                     std::string(list) + " may not be added or removed on resize");
    return false;
  }
  bool fits = true;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (text_at(now[i], "name") != text_at(before[i], "name")) {
      errors.forbidden(child(at_index(child("spec", list), i), "name"),
                       std::string(list) + " may not be renamed or reordered on resize");
      fits = false;
    }
  }
  return fits;
}

// The node can do it, as far as its first running container tells.
bool node_can_resize(const json::Value& pod) {
  const auto statuses = items_at(object_at(pod, "status"), "containerStatuses");
  const auto running = std::ranges::find_if(statuses, [](const json::Value& status) {
    return !absent(object_at(status, "state"), "running");
  });
  return running == statuses.end() || !absent(*running, "resources");
}

// Why such a pod can't be resized at all; empty: it can.
std::string_view never_resized(const json::Value& pod, const json::Value& old) {
  if (has_pod_resources(old) || has_pod_resources(pod)) {
    return "pods with pod-level resources cannot be resized";
  }
  if (is_mirror(old)) {
    return "static pods cannot be resized";
  }
  if (text_at(object_at(old, {"spec", "os"}), "name") == "windows") {
    return "windows pods cannot be resized";
  }
  return {};
}

void validate_amounts(json::Arena& arena, const json::Value& spec, const json::Value& old,
                      FieldErrors& errors) {
  for (std::string_view list : {"initContainers", "containers"}) {
    const auto now = items_at(spec, list);
    const auto before = items_at(old, list);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (list == "containers" || is_sidecar(before[i])) {
        validate_removals(now[i], before[i], at_index(child("spec", list), i), errors);
      }
    }
  }
  for (std::string_view list : {"containers", "initContainers"}) {
    const auto now = items_at(spec, list);
    const auto before = items_at(old, list);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool sidecar = list == "initContainers" && is_sidecar(now[i]);
      const bool resizable = list == "containers" || sidecar;
      const json::Value rest =
          resizable ? with_old_cpu_and_memory(arena, now[i], before[i]) : now[i];
      if (same(&rest, &before[i])) {
        continue;
      }
      errors.forbidden("spec",
                       sidecar ? "only cpu and memory resources for sidecar containers are mutable"
                       : resizable ? "only cpu and memory resources are mutable"
                                   : "resources for non-sidecar init containers are immutable");
    }
  }
}

}  // namespace

void prepare_resize(json::Arena& arena, json::Value& pod, const json::Value& old) {
  const json::Value& before = object_at(old, "spec");
  const json::Value asked = object_at(std::as_const(pod), "spec");
  for (std::string_view list : {"containers", "initContainers"}) {
    if (items_at(asked, list).size() != items_at(before, list).size()) {
      return;
    }
  }
  json::Value spec = before.clone(arena);
  for (std::string_view list : {"containers", "initContainers"}) {
    const auto now = items_at(asked, list);
    if (now.empty()) {
      continue;
    }
    if (same_names(now, items_at(before, list))) {
      spec.set_static(arena, list, resized(arena, now, items_at(before, list)));
    } else {
      copy_member(arena, spec, asked, list);
    }
  }
  pod.set_static(arena, "spec", spec);
  keep_metadata(arena, pod, old);
}

void validate_resize(json::Arena& arena, const json::Value& pod, const json::Value& old,
                     FieldErrors& errors) {
  if (const std::string_view why = never_resized(pod, old); !why.empty()) {
    errors.forbidden("", why);
    return;
  }
  const json::Value& spec = object_at(pod, "spec");
  const json::Value& old_spec = object_at(old, "spec");
  const std::string_view told = text_at(object_at(old, "status"), "qosClass");
  if ((told.empty() ? qos_class(old_spec) : told) != qos_class(spec)) {
    errors.invalid_text("spec", text_at(object_at(pod, "status"), "qosClass"),
                        "Pod QOS Class may not change as a result of resizing");
  }
  if (!node_can_resize(old)) {
    errors.forbidden("spec", "Pod running on node without support for resize");
  }
  const bool containers = validate_order(spec, old_spec, "containers", errors);
  const bool init_containers = validate_order(spec, old_spec, "initContainers", errors);
  if (containers && init_containers) {
    validate_amounts(arena, spec, old_spec, errors);
  }
}

void prepare_ephemeral_containers(json::Arena& arena, json::Value& pod, const json::Value& old) {
  json::Value spec = object_at(old, "spec").clone(arena);
  copy_member(arena, spec, object_at(std::as_const(pod), "spec"), "ephemeralContainers");
  pod.set_static(arena, "spec", spec);
  keep_metadata(arena, pod, old);
}

void validate_ephemeral_containers_update(const json::Value& pod, const json::Value& old,
                                          FieldErrors& errors) {
  if (is_mirror(old)) {
    errors.forbidden("", "static pods do not support ephemeral containers");
    return;
  }
  constexpr std::string_view kPath = "spec.ephemeralContainers";
  const auto now = items_at(object_at(pod, "spec"), "ephemeralContainers");
  for (const json::Value& before : items_at(object_at(old, "spec"), "ephemeralContainers")) {
    const std::string name(text_at(before, "name"));
    const auto kept = std::ranges::find_if(
        now, [&](const json::Value& container) { return text_at(container, "name") == name; });
    const std::string which = "existing ephemeral containers " + quote(name) + " may not be ";
    if (kept == now.end()) {
      errors.forbidden(std::string(kPath), which + "removed\n");
    } else if (!same(&*kept, &before)) {
      errors.forbidden(std::string(kPath),
                       which + "changed\n" + first_difference(*kept, before, "") + " differs");
    }
  }
}

}  // namespace codeflare::apiserver
