#include "apiserver/kinds/pod_label_keys.h"
#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/pod_subresources.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "base/time.h"
#include "json/member_index.h"
#include "json/write.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kOnlyThese =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

void default_requests(json::Arena& arena, json::Value& container) {
  json::Value* resources = container.find("resources");
  if (resources == nullptr || !resources->is_object() ||
      object_at(*resources, "limits").size() == 0) {
    return;
  }
  json::Value& requests = make_object(arena, *resources, "requests");
  copy_missing(arena, requests, object_at(*resources, "limits"));
}

void default_host_ports(json::Arena& arena, json::Value& container) {
  for (json::Value& port : items_at(container, "ports")) {
    if (integer_at(port, "hostPort").value_or(0) == 0) {
      port.set(arena, "hostPort",
               json::Value::integer(arena, integer_at(port, "containerPort").value_or(0)));
    }
  }
}

bool is_gated(const json::Value& spec) {
  return !items_at(spec, "schedulingGates").empty();
}

// The old entries come first and as they were; more may follow.
bool only_added(std::span<const json::Value> now, std::span<const json::Value> before) {
  return now.size() >= before.size() &&
         std::ranges::equal(
             now.first(before.size()), before,
             [](const json::Value& a, const json::Value& b) { return same(&a, &b); });
}

// A term without expressions matches nothing: expressions would make it match something.
bool narrows(const json::Value& term, const json::Value& old) {
  const auto expressions = items_at(old, "matchExpressions");
  const auto fields = items_at(old, "matchFields");
  if (expressions.empty() && fields.empty()) {
    return items_at(term, "matchExpressions").empty() && items_at(term, "matchFields").empty();
  }
  return only_added(items_at(term, "matchExpressions"), expressions) &&
         only_added(items_at(term, "matchFields"), fields);
}

// A gated pod may be steered to fewer nodes than before, never to others.
void validate_steering(const json::Value& spec, const json::Value& old, FieldErrors& errors) {
  const json::Value& selector = object_at(spec, "nodeSelector");
  json::MemberIndex selected(selector.members());
  for (const json::Member& wanted : object_at(old, "nodeSelector").members()) {
    const json::Value* now = selected.find(wanted.key);
    if (now == nullptr || !json::equal(*now, wanted.value)) {
      errors.invalid("spec.nodeSelector", show(selector),
                     "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
      break;
    }
  }
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const auto terms_of = [&](const json::Value& from) {
    return items_at(object_at(from, {"affinity", "nodeAffinity", kRequired}), "nodeSelectorTerms");
  };
  const auto old_terms = terms_of(old);
  const auto terms = terms_of(spec);
  const std::string at = child(child("spec.affinity.nodeAffinity", kRequired), "nodeSelectorTerms");
  if (!old_terms.empty() && terms.size() != old_terms.size()) {
    std::string shown = "[";
    for (const json::Value& term : terms) {
      shown.append(shown.size() > 1 ? "," : "").append(show(term));
    }
    errors.invalid(at, shown + "]",
                   "no additions/deletions to non-empty NodeSelectorTerms list are "
                   "allowed");
    return;
  }
  for (std::size_t i = 0; i < old_terms.size(); ++i) {
    if (!narrows(terms[i], old_terms[i])) {
      errors.invalid(at_index(at, i), show(terms[i]),
                     "only additions are allowed (no mutations or deletions)");
    }
  }
}

// spec with everything that may change taken from `old`.
json::Value without_mutable(json::Arena& arena, const json::Value& spec, const json::Value& old) {
  json::Value munged = spec.clone(arena);
  for (std::string_view list : {"containers", "initContainers"}) {
    const auto old_items = items_at(old, list);
    std::size_t i = 0;
    for (json::Value& container : items_at(munged, list)) {
      copy_member(arena, container, old_items[i++], "image");
    }
  }
  for (std::string_view key : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) {
    copy_member(arena, munged, old, key);
  }
  if (integer_at(old, "terminationGracePeriodSeconds").value_or(0) < 0 &&
      integer_at(munged, "terminationGracePeriodSeconds") == 1) {
    copy_member(arena, munged, old, "terminationGracePeriodSeconds");
  }
  if (is_gated(old)) {
    // validate_steering() has checked the changes of these.
    copy_member(arena, munged, old, "nodeSelector");
    if (object_at(munged, "affinity").size() > 0 || object_at(old, "affinity").size() > 0) {
      copy_member(arena, make_object(arena, munged, "affinity"), object_at(old, "affinity"),
                  "nodeAffinity");
    }
  }
  return munged;
}

void validate_deadline_update(const json::Value& spec, const json::Value& old,
                              FieldErrors& errors) {
  const std::optional<std::int64_t> now = integer_at(spec, "activeDeadlineSeconds");
  const std::optional<std::int64_t> before = integer_at(old, "activeDeadlineSeconds");
  if (now && before && *before < *now) {
    errors.invalid("spec.activeDeadlineSeconds", std::to_string(*now),
                   "must be less than or equal to previous value");
  } else if (!now && before) {
    errors.invalid("spec.activeDeadlineSeconds", "null",
                   "must not update from a positive integer to nil value");
  }
}

// Old clients know one address of a pod, new ones a list: both are set, and the one counts when
// they differ.
void settle_addresses(json::Arena& arena, json::Value& status) {
  const std::string_view one = text_at(status, "podIP");
  const std::span<const json::Value> all = items_at(std::as_const(status), "podIPs");
  if (!one.empty() && (all.empty() || text_at(all[0], "ip") != one)) {
    json::Value address = json::Value::object();
    address.set_static(arena, "ip", json::Value::string(arena, one));
    json::Value list = json::Value::array();
    list.push_back(arena, address);
    status.set_static(arena, "podIPs", list);
  } else if (one.empty() && !all.empty()) {
    status.set_static(arena, "podIP", json::Value::string(arena, text_at(all[0], "ip")));
  }
}

class PodStrategy final : public Strategy {
 public:
  void set_defaults(WriteContext& context, json::Value& pod) const override {
    json::Value& spec = make_object(context.arena, pod, "spec");
    default_pod_spec(context.arena, spec);
    if (json::Value* status = pod.find("status"); status != nullptr && status->is_object()) {
      settle_addresses(context.arena, *status);
    }
    default_boolean(context.arena, spec, "enableServiceLinks", true);
    for (std::string_view list : {"containers", "initContainers"}) {
      for (json::Value& container : items_at(spec, list)) {
        default_requests(context.arena, container);
        if (true_at(spec, "hostNetwork")) {
          default_host_ports(context.arena, container);
        }
      }
    }
  }

  void prepare_create(WriteContext& context, json::Value& pod) const override {
    json::Arena& arena = context.arena;
    json::Value status = json::Value::object();
    status.set_static(arena, "phase", json::Value::string_view_of("Pending"));
    const json::Value& spec = object_at(pod, "spec");
    if (!items_at(spec, "schedulingGates").empty()) {
      json::Value condition = json::Value::object();
      condition.set_static(arena, "type", json::Value::string_view_of("PodScheduled"));
      condition.set_static(arena, "status", json::Value::string_view_of("False"));
      condition.set_static(arena, "lastProbeTime", json::Value());
      condition.set_static(arena, "lastTransitionTime",
                           json::Value::string(arena, to_rfc3339(context.now)));
      condition.set_static(arena, "reason", json::Value::string_view_of("SchedulingGated"));
      condition.set_static(
          arena, "message",
          json::Value::string_view_of("Scheduling is blocked due to non-empty scheduling gates"));
      json::Value conditions = json::Value::array();
      conditions.push_back(arena, condition);
      status.set_static(arena, "conditions", conditions);
    }
    status.set_static(arena, "qosClass", json::Value::string_view_of(qos_class(spec)));
    pod.set_static(arena, "status", status);
    merge_label_keys(arena, pod);
  }

  void prepare_update(WriteContext& context, json::Value& pod,
                      const json::Value& old) const override {
    if (context.subresource == "status") {
      json::Value& metadata = make_object(context.arena, pod, "metadata");
      copy_member(context.arena, metadata, object_at(old, "metadata"), "ownerReferences");
      json::Value& status = make_object(context.arena, pod, "status");
      if (text_at(status, "qosClass").empty()) {
        copy_member(context.arena, status, object_at(old, "status"), "qosClass");
      }
    } else if (context.subresource == "ephemeralcontainers") {
      prepare_ephemeral_containers(context.arena, pod, old);
    } else if (context.subresource == "resize") {
      prepare_resize(context.arena, pod, old);
    }
  }

  void validate(WriteContext& context, const json::Value& pod, FieldErrors& errors) const override {
    if (context.subresource != "status") {
      validate_pod(pod, errors);
    }
  }

  void validate_update(WriteContext& context, const json::Value& pod, const json::Value& old,
                       FieldErrors& errors) const override {
    if (context.subresource == "status") {
      validate_status(pod, old, errors);
      return;
    }
    if (context.subresource == "ephemeralcontainers") {
      validate_ephemeral_containers_update(pod, old, errors);
      return;
    }
    if (context.subresource == "resize") {
      validate_resize(context.arena, pod, old, errors);
      return;
    }
    const json::Value& spec = object_at(pod, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    for (std::string_view list : {"containers", "initContainers"}) {
      if (items_at(spec, list).size() != items_at(old_spec, list).size()) {
        errors.forbidden(child("spec", list), "pod updates may not add or remove containers");
        return;
      }
    }
    validate_deadline_update(spec, old_spec, errors);
    validate_lists(spec, old_spec, errors);
    if (is_gated(old_spec)) {
      validate_steering(spec, old_spec, errors);
    }
    const json::Value munged = without_mutable(context.arena, spec, old_spec);
    if (!same(&munged, &old_spec)) {
      errors.forbidden("spec", std::string(kOnlyThese) + "\n" +
                                   first_difference(munged, old_spec, "spec") + " differs");
    }
  }

  std::int64_t grace_seconds(const json::Value& pod,
                             std::optional<std::int64_t> requested) const override {
    const json::Value& spec = object_at(pod, "spec");
    const std::string_view phase = text_at(object_at(pod, "status"), "phase");
    // Nobody has to be asked before a pod goes that does not run anywhere.
    if (text_at(spec, "nodeName").empty() || phase == "Failed" || phase == "Succeeded") {
      return 0;
    }
    const std::int64_t seconds =
        requested.value_or(integer_at(spec, "terminationGracePeriodSeconds").value_or(0));
    return seconds < 0 ? 1 : seconds;
  }

 private:
  static void validate_status(const json::Value& pod, const json::Value& old, FieldErrors& errors) {
    const std::string_view nominated = text_at(object_at(pod, "status"), "qosClass");
    const std::string_view before = text_at(object_at(old, "status"), "qosClass");
    if (!before.empty() && nominated != before) {
      errors.invalid_text("status.qosClass", nominated, "field is immutable");
    }
  }

  static void validate_lists(const json::Value& spec, const json::Value& old, FieldErrors& errors) {
    // tolerationSeconds may change, so only the rest has to be found again.
    const auto rest_of = [](const json::Value& toleration) {
      return std::tuple(text_at(toleration, "key"), text_at(toleration, "operator"),
                        text_at(toleration, "value"), text_at(toleration, "effect"));
    };
    std::set<decltype(rest_of(json::Value()))> kept;
    for (const json::Value& toleration : items_at(spec, "tolerations")) {
      kept.insert(rest_of(toleration));
    }
    for (const json::Value& toleration : items_at(old, "tolerations")) {
      if (!kept.contains(rest_of(toleration))) {
        errors.forbidden("spec.tolerations",
                         "existing toleration can not be modified except its "
                         "tolerationSeconds");
        break;
      }
    }
    std::set<std::string_view> old_gates;
    for (const json::Value& gate : items_at(old, "schedulingGates")) {
      old_gates.insert(text_at(gate, "name"));
    }
    for (const json::Value& gate : items_at(spec, "schedulingGates")) {
      if (!old_gates.contains(text_at(gate, "name"))) {
        errors.forbidden("spec.schedulingGates",
                         "only deletion is allowed, but found new scheduling gate '" +
                             std::string(text_at(gate, "name")) + "'");
      }
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_pod_strategy() {
  return std::make_shared<PodStrategy>();
}

}  // namespace codeflare::apiserver
