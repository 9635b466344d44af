#include "apiserver/admission/pod_admission.h"

#include "apiserver/registry/edit.h"
#include "apiserver/request/forbidden.h"
#include "base/check.h"
#include "json/parse.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::int64_t kTolerationSeconds = 300;

// Notices and unreachable nodes are borne for a while, unless the pod says otherwise.
void tolerate(json::Arena& arena, json::Value& spec, std::string_view key) {
  const bool said = std::ranges::any_of(
      items_at(std::as_const(spec), "tolerations"), [&](const json::Value& toleration) {
        const std::string_view own = text_at(toleration, "key");
        const std::string_view effect = text_at(toleration, "effect");
        return (own == key || own.empty()) && (effect == "NoExecute" || effect.empty());
      });
  if (said) {
    return;
  }
  json::Value toleration = json::Value::object();
  toleration.set_static(arena, "key", json::Value::string_view_of(key));
  toleration.set_static(arena, "operator", json::Value::string_view_of("Exists"));
  toleration.set_static(arena, "effect", json::Value::string_view_of("NoExecute"));
  toleration.set_static(arena, "tolerationSeconds",
                        json::Value::integer(arena, kTolerationSeconds));
  json::Value* list = spec.find("tolerations");
  if (list == nullptr || !list->is_array()) {
    list = &spec.set(arena, "tolerations", json::Value::array());
  }
  list->push_back(arena, toleration);
}

void keep(json::Arena& arena, json::Value& spec, const json::Value& old, std::string_view key) {
  if (absent(spec, key) && !absent(old, key)) {
    copy_member(arena, spec, old, key);
  }
}

}  // namespace

PodAdmission::PodAdmission(Store& store)
    : store_(store),
      pods_(store.collection("pods")),
      runtimes_(store.collection("runtimeclasses.node.k8s.io")),
      classes_collection_(store.collection("priorityclasses.scheduling.k8s.io")) {
  CHECK(store
            .visit(classes_collection_, {},
                   [&](const ObjectPtr& object) {
                     remember({.op = Write::Op::create, .object = object});
                     return true;
                   })
            .has_value());
  store.on_commit([this](CollectionId collection, const Event& event) {
    if (collection == classes_collection_) {
      remember(event);
    }
  });
}

void PodAdmission::remember(const Event& event) {
  const std::string name(event.object->name());
  if (event.op == Write::Op::remove) {
    classes_.erase(name);
    return;
  }
  const Result<json::Document> parsed = json::parse(event.object->text().view());
  CHECK(parsed.has_value());
  classes_[name] = {.value = integer_at(parsed->root, "value").value_or(0),
                    .preemption_policy = std::string(text_at(parsed->root, "preemptionPolicy")),
                    .is_default = true_at(parsed->root, "globalDefault")};
}

std::map<std::string, PodAdmission::Class, std::less<>>::const_iterator
PodAdmission::default_class() const {
  auto best = classes_.end();
  for (auto at = classes_.begin(); at != classes_.end(); ++at) {
    if (at->second.is_default &&
        (best == classes_.end() || at->second.value < best->second.value)) {
      best = at;
    }
  }
  return best;
}

Result<void> PodAdmission::set_priority(AdmissionRequest& request) const {
  json::Arena& arena = request.context.arena;
  json::Value& spec = make_object(arena, *request.object, "spec");
  const std::string name(text_at(spec, "priorityClassName"));
  auto found = name.empty() ? default_class() : classes_.find(name);
  if (!name.empty() && found == classes_.end()) {
    return std::unexpected(forbidden(request.resource, request.name,
                                     "no PriorityClass with name " + name + " was found"));
  }
  const Class chosen =
      found == classes_.end() ? Class{.preemption_policy = "PreemptLowerPriority"} : found->second;
  if (name.empty() && found != classes_.end()) {
    spec.set(arena, "priorityClassName", json::Value::string(arena, found->first));
  }
  const std::optional<std::int64_t> own = integer_at(spec, "priority");
  if (own && *own != chosen.value) {
    return std::unexpected(forbidden(
        request.resource, request.name,
        "the integer value of priority (" + std::to_string(*own) +
            ") must not be provided in pod spec; priority admission controller computed " +
            std::to_string(chosen.value) + " from the given PriorityClass name"));
  }
  spec.set(arena, "priority", json::Value::integer(arena, chosen.value));
  const std::string_view policy = text_at(spec, "preemptionPolicy");
  if (!policy.empty() && !chosen.preemption_policy.empty() && policy != chosen.preemption_policy) {
    return std::unexpected(forbidden(
        request.resource, request.name,
        "the string value of PreemptionPolicy (" + std::string(policy) +
            ") must not be provided in pod spec; priority admission controller computed " +
            chosen.preemption_policy + " from the given PriorityClass name"));
  }
  default_text(arena, spec, "preemptionPolicy", chosen.preemption_policy);
  return {};
}

Result<void> PodAdmission::check_runtime(const AdmissionRequest& request) const {
  const json::Value& spec = object_at(*request.object, "spec");
  const std::string_view name = text_at(spec, "runtimeClassName");
  if (name.empty() || store_.get(runtimes_, "", name) != nullptr) {
    return {};
  }
  return std::unexpected(
      forbidden(request.resource, request.name,
                "pod rejected: RuntimeClass \"" + std::string(name) + "\" not found"));
}

Result<void> PodAdmission::mutate(AdmissionRequest& request) {
  if (request.resource.collection != pods_ || !request.subresource.empty() ||
      request.object == nullptr) {
    return {};
  }
  json::Arena& arena = request.context.arena;
  json::Value& spec = make_object(arena, *request.object, "spec");
  if (request.operation == Operation::create) {
    TRY(set_priority(request));
    TRY(check_runtime(request));
  } else {
    const json::Value& old = object_at(*request.old, "spec");
    keep(arena, spec, old, "priority");
    keep(arena, spec, old, "preemptionPolicy");
  }
  tolerate(arena, spec, "node.kubernetes.io/not-ready");
  tolerate(arena, spec, "node.kubernetes.io/unreachable");
  return {};
}

Result<void> PodAdmission::validate(AdmissionRequest& request) {
  if (request.resource.collection != classes_collection_ || request.object == nullptr ||
      !true_at(*request.object, "globalDefault")) {
    return {};
  }
  const auto found = default_class();
  if (found != classes_.end() && found->first != request.name) {
    return std::unexpected(forbidden(request.resource, request.name,
                                     "PriorityClass " + found->first +
                                         " is already marked as default. Only one default can "
                                         "exist"));
  }
  return {};
}

}  // namespace codeflare::apiserver
