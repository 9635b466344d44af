#include "apiserver/crd/definition.h"
#include "apiserver/crd/names.h"
#include "apiserver/schema/keywords.h"
#include "model/validation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace codeflare::apiserver {
namespace {

using schema::keywords::flag_of;
using schema::keywords::list_of;
using schema::keywords::object_of;
using schema::keywords::text_of;

constexpr std::size_t kSelectableFieldsMax = 8;
constexpr std::size_t kWarningLengthMax = 256;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

const json::Value& object_or_empty(const json::Value& value, std::string_view key) {
  static const json::Value kEmpty = json::Value::object();
  const json::Value* found = object_of(value, key);
  return found == nullptr ? kEmpty : *found;
}

std::span<const json::Value> items_of(const json::Value& value, std::string_view key) {
  const json::Value* list = list_of(value, key);
  return list == nullptr ? std::span<const json::Value>() : list->items();
}

class DefinitionChecker {
 public:
  DefinitionChecker(const json::Value& definition, const DefinitionOptions& options,
                    FieldErrors& errors)
      : definition_(definition),
        spec_(object_or_empty(definition, "spec")),
        options_(options),
        errors_(errors) {}

  CompiledVersions check(const json::Value* old) {
    old_ = old;
    check_name();
    check_group();
    check_scope();
    CompiledVersions schemas = check_versions();
    check_names();
    check_conversion();
    check_stored_versions();
    check_approval(old);
    if (flag_of(spec_, "preserveUnknownFields")) {
      errors_.invalid("spec.preserveUnknownFields", "true",
                      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                      "spec.versions[*].schema instead");
    }
    if (old != nullptr) {
      check_unchanged(*old);
    }
    return schemas;
  }

 private:
  void check_name() {
    const json::Value& names = object_or_empty(spec_, "names");
    std::string_view name = object_or_empty(definition_, "metadata").string_or_empty("name");
    std::string wanted =
        std::string(text_of(names, "plural")) + "." + std::string(text_of(spec_, "group"));
    if (!name.empty() && name != wanted) {
      errors_.invalid_text("metadata.name", name, R"(must be spec.names.plural+"."+spec.group)");
    }
  }

  void check_group() {
    std::string_view group = text_of(spec_, "group");
    if (group.empty()) {
      errors_.required("spec.group");
    } else if (auto complaints = model::check_dns1123_subdomain(group); !complaints.empty()) {
      errors_.invalid_text("spec.group", group, model::join(complaints, ","));
    } else if (group.find('.') == std::string_view::npos) {
      errors_.invalid_text("spec.group", group, "should be a domain with at least one dot");
    }
  }

  void check_scope() {
    std::string_view scope = text_of(spec_, "scope");
    if (scope.empty()) {
      errors_.required("spec.scope");
    } else if (scope != "Cluster" && scope != "Namespaced") {
      errors_.not_supported("spec.scope", quote(scope), {"Cluster", "Namespaced"});
    }
  }

  CompiledVersions check_versions() {
    CompiledVersions schemas;
    std::set<std::string_view> names;
    std::size_t storage = 0;
    std::span<const json::Value> versions = items_of(spec_, "versions");
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const json::Value& version = versions[i];
      const std::string path = "spec.versions[" + std::to_string(i) + "]";
      std::string_view name = text_of(version, "name");
      if (auto complaints = model::check_dns1035_label(name); !complaints.empty()) {
        errors_.invalid_text(path + ".name", name, model::join(complaints, ","));
      }
      names.insert(name);
      storage += flag_of(version, "storage") ? 1 : 0;
      check_deprecation(version, path);
      schemas.push_back(check_schema(version, i, path, schemas));
      check_parts(version, i, path);
    }
    if (names.size() != versions.size()) {
      errors_.invalid("spec.versions", shown_versions(), "must contain unique version names");
    }
    if (storage != 1) {
      errors_.invalid("spec.versions", shown_versions(),
                      "must have exactly one version marked as storage version");
    }
    return schemas;
  }

  // Settings that all versions share stand above them in upstream's own form, and errors say so.
  // Asked for each version, answered once.
  bool is_common(std::string_view key) {
    if (auto known = common_.find(key); known != common_.end()) {
      return known->second;
    }
    std::span<const json::Value> versions = items_of(spec_, "versions");
    const bool common = std::ranges::all_of(versions, [&](const json::Value& version) {
      const json::Value* mine = version.find(key);
      const json::Value* first = versions[0].find(key);
      return mine == nullptr || first == nullptr ? mine == first : json::equal(*mine, *first);
    });
    common_.emplace(key, common);
    return common;
  }

  std::shared_ptr<const schema::CompiledSchema> check_schema(const json::Value& version,
                                                             std::size_t index,
                                                             const std::string& path,
                                                             const CompiledVersions& before) {
    const json::Value* schema = object_of(object_or_empty(version, "schema"), "openAPIV3Schema");
    if (schema == nullptr) {
      errors_.required(path + ".schema.openAPIV3Schema");
      return nullptr;
    }
    const bool common = is_common("schema");
    if (common && index > 0) {
      return before[0];
    }
    const std::string at = (common ? "spec.validation" : path + ".schema") + ".openAPIV3Schema";
    check_root(*schema, object_or_empty(version, "subresources").find("status") != nullptr, at);
    std::vector<std::string> formats;
    auto compiled = schema::compile(
        *schema,
        {.object_meta = options_.object_meta,
         .rules = options_.rules,
         .limit_rule_costs = options_.limit_rule_costs && !is_in_use(version, *schema),
         .path = at,
         .unknown_formats = &formats},
        errors_);
    for (const std::string& format : formats) {
      warn("unrecognized format " + quote(format));
    }
    return compiled;
  }

  // The stored definition has this schema under the same version.
  bool is_in_use(const json::Value& version, const json::Value& schema) const {
    if (old_ == nullptr) {
      return false;
    }
    return std::ranges::any_of(
        items_of(object_or_empty(*old_, "spec"), "versions"), [&](const json::Value& before) {
          const json::Value* stored = before.get({"schema", "openAPIV3Schema"});
          return text_of(before, "name") == text_of(version, "name") && stored != nullptr &&
                 json::equal(*stored, schema);
        });
  }

  void check_parts(const json::Value& version, std::size_t index, const std::string& path) {
    auto place = [&](std::string_view key) -> std::string {
      return is_common(key) ? "spec" : path;
    };
    if (index == 0 || !is_common("subresources")) {
      check_scale(object_or_empty(version, "subresources"),
                  place("subresources") + ".subresources");
    }
    if (index == 0 || !is_common("additionalPrinterColumns")) {
      check_columns(version, place("additionalPrinterColumns"));
    }
    if (index == 0 || !is_common("selectableFields")) {
      check_selectable_fields(version,
                              object_of(object_or_empty(version, "schema"), "openAPIV3Schema"),
                              place("selectableFields"));
    }
  }

  // Upstream shows the whole list, schemas and all; the names say as much.
  std::string shown_versions() const {
    std::string shown;
    for (const json::Value& version : items_of(spec_, "versions")) {
      shown += (shown.empty() ? "" : ",") + quote(text_of(version, "name"));
    }
    return "[" + shown + "]";
  }

  void warn(std::string text) {
    if (options_.warnings != nullptr &&
        std::ranges::find(*options_.warnings, text) == options_.warnings->end()) {
      options_.warnings->push_back(std::move(text));
    }
  }

  void check_deprecation(const json::Value& version, const std::string& path) {
    const json::Value* warning = version.find("deprecationWarning");
    if (warning == nullptr || !warning->is_string()) {
      return;
    }
    std::string_view text = warning->as_string();
    const std::string field = path + ".deprecationWarning";
    if (!flag_of(version, "deprecated")) {
      errors_.invalid_text(field, text, "can only be set for deprecated versions");
    }
    if (text.size() > kWarningLengthMax) {
      errors_.invalid_text(field, text, "must be <= 256 characters long");
    }
    if (text.empty()) {
      errors_.invalid_text(field, text, "must not be an empty string");
    }
    auto control =
        std::ranges::find_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
    if (control != text.end()) {
      errors_.invalid_text(
          field, text,
          "must only contain printable UTF-8 characters; non-printable character found at index " +
              std::to_string(control - text.begin()));
    }
  }

  // With a status subresource the status is validated by itself: nothing at the root may concern
  // it.
  void check_root(const json::Value& schema, bool has_status, const std::string& path) {
    if (!has_status) {
      return;
    }
    for (std::string_view keyword :
         {"not", "allOf", "anyOf", "oneOf", "enum", "additionalProperties", "maxProperties",
          "minProperties", "nullable", "default", "x-kubernetes-embedded-resource",
          "x-kubernetes-int-or-string", "x-kubernetes-map-type", "x-kubernetes-list-type",
          "x-kubernetes-list-map-keys"}) {
      if (schema.find(keyword) != nullptr) {
        errors_.invalid(
            path, quote(keyword),
            "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum "
            "MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items "
            "Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are "
            "allowed at the root of the schema if the status subresource is enabled");
        return;
      }
    }
  }

  bool check_path(std::string_view path, const std::string& field) {
    if (path[0] == '.') {
      return true;
    }
    errors_.invalid_text(field, path, "must be a simple json path starting with .");
    return false;
  }

  void check_scale(const json::Value& subresources, const std::string& path) {
    const json::Value* scale = object_of(subresources, "scale");
    if (scale == nullptr) {
      return;
    }
    struct Rule {
      std::string_view key;
      std::string_view prefix;
    };
    for (const Rule& rule :
         {Rule{"specReplicasPath", ".spec"}, Rule{"statusReplicasPath", ".status"}}) {
      const std::string field = path + ".scale." + std::string(rule.key);
      std::string_view value = text_of(*scale, rule.key);
      if (value.empty()) {
        errors_.required(field);
      } else if (check_path(value, field) && !value.starts_with(std::string(rule.prefix) + ".")) {
        errors_.invalid_text(field, value,
                             "should be a json path under " + std::string(rule.prefix));
      }
    }
    std::string_view selector = text_of(*scale, "labelSelectorPath");
    const std::string field = path + ".scale.labelSelectorPath";
    if (!selector.empty() && check_path(selector, field) && !selector.starts_with(".spec.") &&
        !selector.starts_with(".status.")) {
      errors_.invalid_text(field, selector, "should be a json path under either .spec or .status");
    }
  }

  void check_columns(const json::Value& version, const std::string& path) {
    static constexpr std::array<std::string_view, 5> kTypes = {"boolean", "date", "integer",
                                                               "number", "string"};
    static constexpr std::array<std::string_view, 9> kFormats = {
        "byte", "date", "date-time", "double", "float", "int32", "int64", "password", "time"};
    std::span<const json::Value> columns = items_of(version, "additionalPrinterColumns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string field = path + ".additionalPrinterColumns[" + std::to_string(i) + "]";
      if (text_of(columns[i], "name").empty()) {
        errors_.required(field + ".name");
      }
      std::string_view type = text_of(columns[i], "type");
      constexpr std::string_view kOneOf = "must be one of boolean,date,integer,number,string";
      if (type.empty()) {
        errors_.required(field + ".type", kOneOf);
      } else if (std::ranges::find(kTypes, type) == kTypes.end()) {
        errors_.invalid_text(field + ".type", type, kOneOf);
      }
      std::string_view format = text_of(columns[i], "format");
      if (!format.empty() && std::ranges::find(kFormats, format) == kFormats.end()) {
        errors_.invalid_text(
            field + ".format", format,
            "must be one of byte,date,date-time,double,float,int32,int64,password,time");
      }
      std::string_view json_path = text_of(columns[i], "jsonPath");
      if (json_path.empty()) {
        errors_.required(field + ".JSONPath");
      } else {
        check_path(json_path, field + ".JSONPath");
      }
    }
  }

  void check_selectable_fields(const json::Value& version, const json::Value* schema,
                               const std::string& path) {
    std::span<const json::Value> fields = items_of(version, "selectableFields");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      std::string_view text = text_of(fields[i], "jsonPath");
      const std::string field = path + ".selectableFields[" + std::to_string(i) + "].jsonPath";
      if (text.empty()) {
        errors_.required(field);
        continue;
      }
      const json::Value* part = schema == nullptr ? nullptr : schema_at(*schema, text);
      if (part == nullptr) {
        errors_.invalid_text(field, text, "is an invalid path: does not refer to a valid field");
        continue;
      }
      if (text.starts_with(".metadata.") || text == ".metadata") {
        errors_.invalid_text(field, text, "must not point to fields in metadata");
      }
      std::string_view type = text_of(*part, "type");
      if (type != "string" && type != "boolean" && type != "integer") {
        errors_.invalid_text(field, text,
                             "must point to a field of type string, boolean or integer. Enum "
                             "string fields and strings with formats are allowed.");
      }
      if (!seen.insert(text).second) {
        errors_.duplicate(field, quote(text));
      }
    }
    if (seen.size() > kSelectableFieldsMax) {
      errors_.too_many(path + ".selectableFields", seen.size(), kSelectableFieldsMax);
    }
  }

  // The schema of ".spec.name", or null.
  static const json::Value* schema_at(const json::Value& schema, std::string_view path) {
    const json::Value* at = &schema;
    while (at != nullptr && path.starts_with('.')) {
      path.remove_prefix(1);
      std::size_t end = std::min(path.find('.'), path.size());
      const json::Value* properties = object_of(*at, "properties");
      at = properties == nullptr ? nullptr : properties->find(path.substr(0, end));
      path.remove_prefix(end);
    }
    return path.empty() ? at : nullptr;
  }

  void check_names() {
    const json::Value& names = object_or_empty(spec_, "names");
    for (std::string_view key : {"plural", "singular", "kind", "listKind"}) {
      std::string_view name = text_of(names, key);
      const std::string field = "spec.names." + std::string(key);
      bool kind = key.ends_with("ind");
      if (name.empty()) {
        errors_.required(field);
      } else if (auto complaints =
                     model::check_dns1035_label(kind ? lower(name) : std::string(name));
                 !complaints.empty()) {
        errors_.invalid_text(field, name,
                             (kind ? "may have mixed case, but should otherwise match: " : "") +
                                 model::join(complaints, ","));
      }
    }
    for (std::string_view key : {"shortNames", "categories"}) {
      std::span<const json::Value> list = items_of(names, key);
      for (std::size_t i = 0; i < list.size(); ++i) {
        std::string_view name = list[i].is_string() ? list[i].as_string() : std::string_view();
        if (auto complaints = model::check_dns1035_label(name); !complaints.empty()) {
          errors_.invalid_text("spec.names." + std::string(key) + "[" + std::to_string(i) + "]",
                               name, model::join(complaints, ","));
        }
      }
    }
    std::string_view kind = text_of(names, "kind");
    if (!kind.empty() && kind == text_of(names, "listKind")) {
      errors_.invalid_text("spec.names.listKind", kind, "kind and listKind may not be the same");
    }
  }

  void check_conversion() {
    const json::Value* conversion = object_of(spec_, "conversion");
    if (conversion == nullptr) {
      return;
    }
    std::string_view strategy = text_of(*conversion, "strategy");
    if (strategy.empty()) {
      errors_.required("spec.conversion.strategy");
    } else if (strategy != "None" && strategy != "Webhook") {
      errors_.not_supported("spec.conversion.strategy", quote(strategy), {"None", "Webhook"});
    } else if (strategy == "Webhook") {
      warn(
          "spec.conversion.webhook: conversion webhooks are not called here, versions are "
          "converted by their apiVersion only");
    } else if (object_of(*conversion, "webhook") != nullptr) {
      errors_.forbidden("spec.conversion.webhook",
                        "should not be set when strategy is not set to Webhook");
    }
  }

  void check_stored_versions() {
    const json::Value* stored = definition_.get({"status", "storedVersions"});
    if (stored == nullptr || stored->size() == 0) {
      return;
    }
    auto has = [](std::span<const json::Value> list, std::string_view name, std::string_view key) {
      return std::ranges::any_of(list, [&](const json::Value& item) {
        return key.empty() ? item.is_string() && item.as_string() == name
                           : text_of(item, key) == name;
      });
    };
    for (std::size_t i = 0; i < stored->size(); ++i) {
      const json::Value& name = stored->items()[i];
      if (name.is_string() && !has(items_of(spec_, "versions"), name.as_string(), "name")) {
        const std::string text(name.as_string());
        errors_.invalid_text(
            "status.storedVersions[" + std::to_string(i) + "]", text,
            "missing from spec.versions; " + text +
                " was previously a storage version, and must remain in spec.versions until a "
                "storage migration ensures no data remains persisted in " +
                text + " and removes " + text + " from status.storedVersions");
      }
    }
  }

  void check_approval(const json::Value* old) {
    if (!is_protected_group(text_of(spec_, "group"))) {
      return;
    }
    ApprovalState state = approval_of(definition_);
    if (old != nullptr && approval_of(*old).approval == state.approval) {
      return;
    }
    const std::string field = "metadata.annotations[api-approved.kubernetes.io]";
    if (state.approval == Approval::missing) {
      errors_.required(field, state.reason);
    } else if (state.approval == Approval::invalid) {
      errors_.invalid_text(field,
                           object_or_empty(object_or_empty(definition_, "metadata"), "annotations")
                               .string_or_empty("api-approved.kubernetes.io"),
                           state.reason);
    }
  }

  void check_unchanged(const json::Value& old) {
    const json::Value& old_spec = object_or_empty(old, "spec");
    auto keep = [&](std::string_view now, std::string_view before, std::string field) {
      if (now != before) {
        errors_.invalid_text(std::move(field), now, "field is immutable");
      }
    };
    const json::Value& names = object_or_empty(spec_, "names");
    const json::Value& old_names = object_or_empty(old_spec, "names");
    if (is_condition_true(old, "Established")) {
      keep(text_of(spec_, "scope"), text_of(old_spec, "scope"), "spec.scope");
      keep(text_of(names, "kind"), text_of(old_names, "kind"), "spec.names.kind");
    }
    keep(text_of(spec_, "group"), text_of(old_spec, "group"), "spec.group");
    keep(text_of(names, "plural"), text_of(old_names, "plural"), "spec.names.plural");
  }

  const json::Value& definition_;
  const json::Value& spec_;
  const json::Value* old_ = nullptr;
  const DefinitionOptions& options_;
  FieldErrors& errors_;
  std::map<std::string_view, bool> common_;  // see is_common
};

}  // namespace

CompiledVersions validate_definition(const json::Value& definition, const json::Value* old,
                                     const DefinitionOptions& options, FieldErrors& errors) {
  return DefinitionChecker(definition, options, errors).check(old);
}

}  // namespace codeflare::apiserver
