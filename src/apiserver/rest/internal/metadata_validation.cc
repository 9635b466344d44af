#include "apiserver/rest/internal/metadata.h"
#include "json/write.h"
#include "model/validation.h"

#include <algorithm>
#include <set>

namespace codeflare::apiserver::internal {
namespace {

constexpr std::size_t kAnnotationBytesMax = 256u << 10;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

void check_name(const Resource& resource, const json::Value& object, FieldErrors& errors) {
  static const Strategy kPlain;
  const Strategy& strategy = resource.strategy != nullptr ? *resource.strategy : kPlain;
  const std::string_view prefix = meta_text(object, "generateName");
  const std::string_view name = meta_text(object, "name");
  if (!prefix.empty()) {
    for (const std::string& complaint : strategy.check_name(prefix, true)) {
      errors.invalid_text("metadata.generateName", prefix, complaint);
    }
  }
  if (name.empty()) {
    errors.required("metadata.name", "name or generateName is required");
    return;
  }
  for (const std::string& complaint : strategy.check_name(name, false)) {
    errors.invalid_text("metadata.name", name, complaint);
  }
  if (resource.namespaced) {
    const std::string_view ns = meta_text(object, "namespace");
    if (ns.empty()) {
      errors.required("metadata.namespace", "");
    }
    for (const std::string& complaint :
         ns.empty() ? model::Complaints() : model::check_dns1123_label(ns)) {
      errors.invalid_text("metadata.namespace", ns, complaint);
    }
  }
}

void check_labels(const json::Value& metadata, FieldErrors& errors) {
  const json::Value* labels = metadata.find("labels");
  if (labels == nullptr) {
    return;
  }
  for (const json::Member& label : labels->members()) {
    for (const std::string& complaint : model::check_qualified_name(label.key)) {
      errors.invalid_text("metadata.labels", label.key, complaint);
    }
    const std::string_view value =
        label.value.is_string() ? label.value.as_string() : std::string_view();
    for (const std::string& complaint : model::check_label_value(value)) {
      errors.invalid_text("metadata.labels", value, complaint);
    }
  }
}

void check_annotations(const json::Value& metadata, FieldErrors& errors) {
  const json::Value* annotations = metadata.find("annotations");
  if (annotations == nullptr) {
    return;
  }
  std::size_t bytes = 0;
  for (const json::Member& annotation : annotations->members()) {
    // Only the letter case of annotation keys is free.
    for (const std::string& complaint : model::check_qualified_name(lower(annotation.key))) {
      errors.invalid_text("metadata.annotations", annotation.key, complaint);
    }
    bytes += annotation.key.size();
    bytes += annotation.value.is_string() ? annotation.value.as_string().size() : 0;
  }
  if (bytes > kAnnotationBytesMax) {
    errors.too_long("metadata.annotations", kAnnotationBytesMax);
  }
}

void check_owners(const json::Value& metadata, FieldErrors& errors) {
  const json::Value* owners = metadata.find("ownerReferences");
  if (owners == nullptr) {
    return;
  }
  std::string_view controller;
  for (const json::Value& owner : owners->items()) {
    const std::string_view version = owner.string_or_empty("apiVersion");
    if (version.substr(version.find('/') + 1).empty()) {
      errors.invalid_text("metadata.ownerReferences.apiVersion", version,
                          "version must not be empty");
    }
    for (std::string_view key : {"kind", "name", "uid"}) {
      if (owner.string_or_empty(key).empty()) {
        errors.invalid_text("metadata.ownerReferences." + std::string(key), "",
                            "must not be empty");
      }
    }
    const json::Value* controls = owner.find("controller");
    if (controls != nullptr && controls->is_boolean() && controls->as_bool()) {
      const std::string_view kind = owner.string_or_empty("kind");
      if (!controller.empty() && !errors.full()) {
        errors.invalid("metadata.ownerReferences", json::to_text(*owners),
                       "Only one reference can have Controller set to true. Found \"true\" in "
                       "references for " +
                           std::string(controller) + " and " + std::string(kind));
      }
      controller = kind;
    }
  }
}

// Definitions have one of their own without a slash, customresourcecleanup.apiextensions.k8s.io.
bool wants_standard_finalizers(const Resource& resource) {
  return !resource.custom && resource.group != "apiextensions.k8s.io" &&
         resource.group != "apiregistration.k8s.io" &&
         resource.group != "admissionregistration.k8s.io";
}

void check_finalizers(const Resource& resource, const json::Value& object, const json::Value* live,
                      FieldErrors& errors) {
  const std::vector<std::string_view> finalizers = finalizers_of(object);
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view finalizer = finalizers[i];
    for (const std::string& complaint : model::check_qualified_name(finalizer)) {
      errors.invalid_text("metadata.finalizers", finalizer, complaint);
    }
    if (wants_standard_finalizers(resource) && !finalizer.contains('/') &&
        finalizer != kOrphanFinalizer && finalizer != kForegroundFinalizer &&
        finalizer != "kubernetes") {
      errors.invalid_text("metadata.finalizers[" + std::to_string(i) + "]", finalizer,
                          "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  auto has = [](const std::vector<std::string_view>& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
  };
  if (has(finalizers, kOrphanFinalizer) && has(finalizers, kForegroundFinalizer)) {
    errors.invalid("metadata.finalizers", json::to_text(*object.get({"metadata", "finalizers"})),
                   "finalizer orphan and foregroundDeletion cannot be both set");
  }
  if (live == nullptr || !is_being_deleted(*live)) {
    return;
  }
  const std::vector<std::string_view> listed = finalizers_of(*live);
  const std::set<std::string_view> before(listed.begin(), listed.end());
  std::vector<std::string> fresh;
  for (std::string_view finalizer : finalizers) {
    if (!before.contains(finalizer)) {
      fresh.emplace_back("\"" + std::string(finalizer) + "\"");
    }
  }
  if (!fresh.empty()) {
    std::ranges::sort(fresh);
    errors.forbidden("metadata.finalizers",
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers []string{" +
                         model::join(fresh, ", ") + "}");
  }
}

}  // namespace

void validate_metadata(const Resource& resource, const json::Value& object, const json::Value* live,
                       FieldErrors& errors) {
  const json::Value* metadata = object.find("metadata");
  if (metadata == nullptr) {
    errors.required("metadata", "");
    return;
  }
  if (live == nullptr) {
    check_name(resource, object, errors);
  }
  check_labels(*metadata, errors);
  check_annotations(*metadata, errors);
  check_owners(*metadata, errors);
  check_finalizers(resource, object, live, errors);
}

}  // namespace codeflare::apiserver::internal
