#include "apiserver/kinds/podspec/checks.h"
#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kClass = "storageClassName";
constexpr std::string_view kAttributesClass = "volumeAttributesClassName";
constexpr std::string_view kImmutable = "field is immutable";
constexpr std::string_view kClaimImmutable =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
    "bound claims";
constexpr std::string_view kSourceImmutable =
    "spec.persistentvolumesource is immutable after creation";

void set_pending(WriteContext& context, json::Value& object) {
  json::Value status = json::Value::object();
  status.set_static(context.arena, "phase", json::Value::string_view_of("Pending"));
  object.set_static(context.arena, "status", status);
}

// 0 when there is none.
model::Quantity amount_at(const json::Value& amounts, std::string_view key) {
  const json::Value* value = amounts.find(key);
  return value == nullptr ? model::Quantity()
                          : podspec::amount_of(*value).value_or(model::Quantity());
}

// `old` takes the place of amounts that are only written in another way: "1024Mi" for "1Gi".
void spell_as_before(json::Arena& arena, json::Value& resources, const json::Value& old) {
  for (std::string_view list : {"requests", "limits"}) {
    json::Value* amounts = resources.find(list);
    if (amounts == nullptr || !amounts->is_object()) {
      continue;
    }
    const json::Value& before = object_at(old, list);
    for (json::Member& member : amounts->members()) {
      const json::Value* other = before.find(member.key);
      if (other != nullptr && amount_at(*amounts, member.key) == amount_at(before, member.key)) {
        member.value = other->clone(arena);
      }
    }
  }
}

// The class moves from the annotation, where it once was, to the field.
bool takes_class_from_annotation(const json::Value& claim, const json::Value& old) {
  const json::Value& before = object_at(old, {"metadata", "annotations"});
  const json::Value& now = object_at(claim, {"metadata", "annotations"});
  const std::string_view name = text_at(before, kBetaClass);
  return !absent(before, kBetaClass) && absent(object_at(old, "spec"), kClass) &&
         !absent(object_at(claim, "spec"), kClass) &&
         text_at(object_at(claim, "spec"), kClass) == name &&
         (absent(now, kBetaClass) || text_at(now, kBetaClass) == name);
}

// A claim without a class gets one, for instance the default that there was none of before.
bool gets_first_class(const json::Value& claim, const json::Value& old) {
  const json::Value& before = object_at(old, {"metadata", "annotations"});
  const std::string_view name = text_at(object_at(claim, "spec"), kClass);
  return absent(object_at(old, "spec"), kClass) && !absent(object_at(claim, "spec"), kClass) &&
         (absent(before, kBetaClass) || text_at(before, kBetaClass) == name);
}

// The claim's spec with everything that may change taken from `old`.
json::Value without_mutable(json::Arena& arena, const json::Value& claim, const json::Value& old) {
  json::Value spec = object_at(claim, "spec").clone(arena);
  const json::Value& old_spec = object_at(old, "spec");
  if (text_at(old_spec, "volumeName").empty()) {
    spec.erase("volumeName");  // may be set once
  }
  if (takes_class_from_annotation(claim, old) || gets_first_class(claim, old)) {
    spec.erase(kClass);
  }
  if (text_at(object_at(claim, "status"), "phase") == "Bound") {
    json::Value& requests = make_object(arena, make_object(arena, spec, "resources"), "requests");
    copy_member(arena, requests, object_at(old_spec, {"resources", "requests"}), "storage");
    if (!absent(spec, kAttributesClass)) {
      copy_member(arena, spec, old_spec, kAttributesClass);
    }
  }
  if (json::Value* resources = spec.find("resources"); resources != nullptr) {
    spell_as_before(arena, *resources, object_at(old_spec, "resources"));
  }
  return spec;
}

// same() with a difference between an empty value and none, for fields that know one.
bool same_claim_spec(const json::Value& spec, const json::Value& old) {
  const auto present_in_both = [&](std::string_view key) {
    return absent(spec, key) == absent(old, key);
  };
  constexpr std::array<std::string_view, 5> kOptional = {"dataSource", "dataSourceRef", "selector",
                                                         kClass, kAttributesClass};
  return same(&spec, &old) && std::ranges::all_of(kOptional, present_in_both);
}

void validate_attributes_class(const json::Value& spec, const json::Value& old,
                               FieldErrors& errors) {
  if (!absent(old, kAttributesClass) && absent(spec, kAttributesClass)) {
    errors.forbidden(child("spec", kAttributesClass),
                     "update from non-nil value to nil is forbidden");
  }
}

void validate_volume_mode(const json::Value& spec, const json::Value& old, FieldErrors& errors) {
  if (!same(spec.find("volumeMode"), old.find("volumeMode"))) {
    errors.invalid_text("volumeMode", text_at(spec, "volumeMode"), kImmutable);
  }
}

class ClaimStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }
  void set_defaults(WriteContext& context, json::Value& claim) const override {
    default_text(context.arena, make_object(context.arena, claim, "spec"), "volumeMode",
                 "Filesystem");
  }
  void prepare_create(WriteContext& context, json::Value& claim) const override {
    set_pending(context, claim);
  }
  void validate(WriteContext& context, const json::Value& claim,
                FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(claim, "spec");
    if (items_at(spec, "accessModes").empty()) {
      errors.required("spec.accessModes", "at least 1 access mode is required");
    }
    if (object_at(spec, {"resources", "requests"}).find("storage") == nullptr) {
      errors.required("spec.resources[storage]", "");
    }
  }

  // A claim names the volume that its pods read and write, so whoever may change one must not
  // choose another volume.
  void validate_update(WriteContext& context, const json::Value& claim, const json::Value& old,
                       FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(claim, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    validate_class_annotation(claim, old, errors);
    const json::Value kept = without_mutable(context.arena, claim, old);
    if (!same_claim_spec(kept, old_spec)) {
      errors.forbidden("spec", std::string(kClaimImmutable) + "\n" +
                                   first_difference(kept, old_spec, "spec") + " differs");
    }
    validate_size(spec, old, errors);
    validate_volume_mode(spec, old_spec, errors);
    validate_attributes_class(spec, old_spec, errors);
    if (!text_at(old_spec, kAttributesClass).empty() && !absent(spec, kAttributesClass) &&
        text_at(spec, kAttributesClass).empty()) {
      errors.forbidden(child("spec", kAttributesClass),
                       "update from non-nil value to an empty string is forbidden");
    }
  }

 private:
  static void validate_class_annotation(const json::Value& claim, const json::Value& old,
                                        FieldErrors& errors) {
    const std::string_view now = text_at(object_at(claim, {"metadata", "annotations"}), kBetaClass);
    const std::string_view before =
        text_at(object_at(old, {"metadata", "annotations"}), kBetaClass);
    if (now != before && !takes_class_from_annotation(claim, old)) {
      errors.invalid_text(child("metadata.annotations", kBetaClass), now, kImmutable);
    }
  }

  // A request that could not be met may be made smaller again, never below what there is.
  static void validate_size(const json::Value& spec, const json::Value& old, FieldErrors& errors) {
    const model::Quantity size = amount_at(object_at(spec, {"resources", "requests"}), "storage");
    const model::Quantity before =
        amount_at(object_at(old, {"spec", "resources", "requests"}), "storage");
    if (size < before && size <= amount_at(object_at(old, {"status", "capacity"}), "storage")) {
      errors.forbidden("spec.resources.requests.storage",
                       "field can not be less than status.capacity");
    }
  }
};

// Labels of nodes that have another name by now.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kRenamedLabels = {{
    {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
    {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
    {"beta.kubernetes.io/os", "kubernetes.io/os"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
}};

// The affinity of a volume with labels renamed as the newer one has them; all else stays.
json::Value with_new_labels(json::Arena& arena, const json::Value& old, const json::Value& now) {
  json::Value renamed = old.clone(arena);
  json::Value& required = make_object(arena, renamed, "required");
  const auto terms = items_at(object_at(now, "required"), "nodeSelectorTerms");
  std::size_t i = 0;
  for (json::Value& term : items_at(required, "nodeSelectorTerms")) {
    const auto wanted =
        i < terms.size() ? items_at(terms[i], "matchExpressions") : std::span<const json::Value>();
    std::size_t j = 0;
    for (json::Value& expression : items_at(term, "matchExpressions")) {
      const std::pair names(text_at(expression, "key"),
                            j < wanted.size() ? text_at(wanted[j], "key") : std::string_view());
      if (std::ranges::find(kRenamedLabels, names) != kRenamedLabels.end()) {
        expression.set(arena, "key", json::Value::string(arena, names.second));
      }
      ++j;
    }
    ++i;
  }
  return renamed;
}

class VolumeStrategy final : public Strategy {
 public:
  bool generation() const override { return false; }
  void set_defaults(WriteContext& context, json::Value& volume) const override {
    json::Value& spec = make_object(context.arena, volume, "spec");
    default_text(context.arena, spec, "persistentVolumeReclaimPolicy", "Retain");
    default_text(context.arena, spec, "volumeMode", "Filesystem");
  }
  void prepare_create(WriteContext& context, json::Value& volume) const override {
    set_pending(context, volume);
  }

  void validate_update(WriteContext& context, const json::Value& volume, const json::Value& old,
                       FieldErrors& errors) const override {
    if (context.subresource == "status") {
      return;
    }
    const json::Value& spec = object_at(volume, "spec");
    const json::Value& old_spec = object_at(old, "spec");
    const json::Value source = source_of(context.arena, spec, old_spec);
    const json::Value old_source = source_of(context.arena, old_spec, old_spec);
    if (!same(&source, &old_source)) {
      errors.forbidden("spec.persistentvolumesource",
                       std::string(kSourceImmutable) + "\n" +
                           first_difference(source, old_source, "spec") + " differs");
    }
    validate_volume_mode(spec, old_spec, errors);
    if (!absent(old_spec, "nodeAffinity")) {
      const json::Value& affinity = object_at(spec, "nodeAffinity");
      const json::Value before =
          with_new_labels(context.arena, object_at(old_spec, "nodeAffinity"), affinity);
      if (!same(&affinity, &before)) {
        errors.invalid("nodeAffinity", absent(spec, "nodeAffinity") ? "null" : show(affinity),
                       kImmutable);
      }
    }
    validate_attributes_class(spec, old_spec, errors);
  }

 private:
  // The volume's identity: all of its spec but a few fields. A secret for expanding may be added.
  static json::Value source_of(json::Arena& arena, const json::Value& spec,
                               const json::Value& old) {
    constexpr std::array<std::string_view, 9> kOthers = {
        "accessModes",  "capacity",       "claimRef",
        "mountOptions", "nodeAffinity",   "persistentVolumeReclaimPolicy",
        kClass,         kAttributesClass, "volumeMode"};
    json::Value source = spec.clone(arena);
    for (std::string_view other : kOthers) {
      source.erase(other);
    }
    constexpr std::string_view kExpansion = "controllerExpandSecretRef";
    json::Value* csi = source.find("csi");
    if (csi != nullptr && absent(object_at(old, "csi"), kExpansion)) {
      csi->erase(kExpansion);
    }
    return source;
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_claim_strategy() {
  return std::make_shared<ClaimStrategy>();
}
std::shared_ptr<const Strategy> make_volume_strategy() {
  return std::make_shared<VolumeStrategy>();
}

}  // namespace codeflare::apiserver
