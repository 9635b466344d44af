#include "apiserver/crd/column_printer.h"
#include "apiserver/crd/custom_strategy.h"
#include "apiserver/crd/definition.h"
#include "apiserver/crd/names.h"
#include "apiserver/registry/registry.h"

#include <algorithm>

namespace codeflare::apiserver {
namespace {

std::string text_at(const json::Value& value, std::string_view key) {
  return std::string(value.string_or_empty(key));
}

bool true_at(const json::Value& value, std::string_view key) {
  const json::Value* member = value.find(key);
  return member != nullptr && member->is_boolean() && member->as_bool();
}

std::vector<std::string> texts_at(const json::Value& value, std::string_view key) {
  std::vector<std::string> texts;
  if (const json::Value* list = value.find(key)) {
    for (const json::Value& item : list->items()) {
      texts.emplace_back(item.is_string() ? item.as_string() : std::string_view());
    }
  }
  return texts;
}

void read_subresources(const json::Value& version, const std::string& kind, ServedVersion& served) {
  const json::Value* subresources = version.find("subresources");
  if (subresources == nullptr) {
    return;
  }
  const std::vector<std::string> verbs = {"get", "patch", "update"};
  if (subresources->find("status") != nullptr) {
    served.has_status = true;
    served.subresources.push_back({.name = "status", .kind = kind, .verbs = verbs});
  }
  if (const json::Value* scale = subresources->find("scale");
      scale != nullptr && scale->is_object()) {
    served.scale = ScaleSubresource{.spec_replicas_path = text_at(*scale, "specReplicasPath"),
                                    .status_replicas_path = text_at(*scale, "statusReplicasPath"),
                                    .label_selector_path = text_at(*scale, "labelSelectorPath")};
    served.subresources.push_back({.name = "scale",
                                   .kind = "Scale",
                                   .group = "autoscaling",
                                   .version = "v1",
                                   .verbs = verbs});
  }
}

ServedVersion read_version(const json::Value& version, const std::string& kind,
                           const schema::CompiledSchema* schema) {
  ServedVersion served{.version = text_at(version, "name"),
                       .schema = schema == nullptr ? nullptr : &schema->root(),
                       .printer = make_column_printer(version.find("additionalPrinterColumns")),
                       .served = true_at(version, "served"),
                       .deprecated = true_at(version, "deprecated")};
  if (served.deprecated) {
    served.deprecation_warning = text_at(version, "deprecationWarning");
  }
  read_subresources(version, kind, served);
  if (const json::Value* fields = version.find("selectableFields")) {
    for (const json::Value& field : fields->items()) {
      std::string_view path = field.string_or_empty("jsonPath");
      path.remove_prefix(path.starts_with('.') ? 1 : 0);
      served.selectable_fields.push_back({.name = std::string(path)});
    }
  }
  return served;
}

// Versions come in order of preference: the first good one before the deprecated one is named.
void say_deprecated(Resource& resource) {
  auto full_name = [&](const ServedVersion& version) {
    return resource.group + "/" + version.version + " " + resource.kind;
  };
  const ServedVersion* better = nullptr;
  for (ServedVersion& version : resource.versions) {
    if (version.deprecated && version.deprecation_warning.empty()) {
      version.deprecation_warning = full_name(version) + " is deprecated";
      if (better != nullptr) {
        version.deprecation_warning += "; use " + full_name(*better);
      }
    } else if (better == nullptr && version.served && !version.deprecated) {
      better = &version;
    }
  }
}

}  // namespace

std::shared_ptr<const Resource> make_resource(const json::Value& definition,
                                              const CompiledVersions& schemas,
                                              CollectionId collection) {
  const json::Value* spec = definition.find("spec");
  const json::Value* names = definition.get({"status", "acceptedNames"});
  if (spec == nullptr || names == nullptr || !is_condition_true(definition, "Established")) {
    return nullptr;
  }
  auto resource = std::make_shared<Resource>();
  resource->group = text_at(*spec, "group");
  resource->plural = text_at(*names, "plural");
  resource->singular = text_at(*names, "singular");
  resource->kind = text_at(*names, "kind");
  resource->list_kind = text_at(*names, "listKind");
  resource->short_names = texts_at(*names, "shortNames");
  resource->categories = texts_at(*names, "categories");
  resource->namespaced = text_at(*spec, "scope") == "Namespaced";
  resource->custom = true;
  resource->collection = collection;
  resource->owner = std::make_shared<const CompiledVersions>(schemas);
  resource->terminating = is_condition_true(definition, "Terminating");
  resource->verbs = {"delete", "deletecollection", "get",    "list",
                     "patch",  "create",           "update", "watch"};
  std::string storage;
  const json::Value* versions = spec->find("versions");
  for (std::size_t i = 0; versions != nullptr && i < versions->size(); ++i) {
    const json::Value& version = versions->items()[i];
    resource->versions.push_back(
        read_version(version, resource->kind, i < schemas.size() ? schemas[i].get() : nullptr));
    if (true_at(version, "storage")) {
      storage = text_at(version, "name");
    }
  }
  std::ranges::sort(resource->versions, version_precedes, &ServedVersion::version);
  say_deprecated(*resource);
  auto at = std::ranges::find(resource->versions, storage, &ServedVersion::version);
  if (at == resource->versions.end()) {
    return nullptr;
  }
  resource->storage_version = static_cast<std::size_t>(at - resource->versions.begin());
  resource->strategy = make_custom_strategy(at->scale);
  return resource;
}

}  // namespace codeflare::apiserver
