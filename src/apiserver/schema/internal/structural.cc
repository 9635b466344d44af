#include "apiserver/schema/internal/structural.h"

#include "apiserver/schema/internal/field_path.h"
#include "apiserver/schema/internal/rule_costs.h"
#include "apiserver/schema/keywords.h"
#include "json/member_index.h"
#include "json/write.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

namespace codeflare::apiserver::schema::internal {
namespace {

using keywords::flag_of;
using keywords::has_additional;
using keywords::has_default;
using keywords::integer_of;
using keywords::is_int_or_string_any_of;
using keywords::list_of;
using keywords::object_of;
using keywords::text_of;

enum class Level : std::uint8_t { root, item, field };

constexpr std::size_t kUnknownFormatsMax = 256;
constexpr std::array<std::string_view, 6> kTypes = {"array",  "boolean", "integer",
                                                    "number", "object",  "string"};

bool is_type_meta(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

// How the part that is looked at is placed.
struct SchemaPosition {
  Level level = Level::root;
  bool inside_meta = false;
  std::string_view no_defaults{};  // why they are forbidden; empty: they are not
};

class StructuralChecker {
 public:
  StructuralChecker(const CompileOptions& options, FieldErrors& errors)
      : options_(options), errors_(errors), base_(path_.field(options.path)) {}

  void check(const json::Value& schema, const SchemaPosition& place) {
    check_keywords(schema, place);
    check_type(schema, place.level);
    check_lists_and_maps(schema);
    if (place.level == Level::root || flag_of(schema, "x-kubernetes-embedded-resource")) {
      check_type_meta(schema, place.level);
    }
    check_branches(schema, is_int_or_string_any_of(schema));
    check_complete(schema, schema, path_.text(), path_.text());
    check_parts(schema, place);
    note_format(schema);
  }

 private:
  void forbid(std::string_view keyword, std::string_view detail) {
    errors_.forbidden(path_.child(keyword), detail);
  }

  void note_format(const json::Value& schema) {
    std::string_view format = text_of(schema, "format");
    if (options_.unknown_formats != nullptr && !format.empty() &&
        options_.unknown_formats->size() < kUnknownFormatsMax &&
        text_of(schema, "type") == "string" && !format_is_known(format) &&
        std::ranges::find(*options_.unknown_formats, format) == options_.unknown_formats->end()) {
      options_.unknown_formats->emplace_back(format);
    }
  }

  // Keywords that no schema may have, structural part or branch.
  void check_keywords(const json::Value& schema, const SchemaPosition& place) {
    std::string_view type = text_of(schema, "type");
    if (type == "null") {
      forbid("type", "type cannot be set to null, use nullable as an alternative");
    }
    if (!type.empty() && std::ranges::find(kTypes, type) == kTypes.end()) {
      errors_.not_supported(path_.child("type"), quote(type), {kTypes.begin(), kTypes.end()});
    }
    for (std::string_view keyword :
         {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      if (schema.find(keyword) != nullptr) {
        forbid(keyword, std::string(keyword) + " is not supported");
      }
    }
    if (list_of(schema, "items") != nullptr) {
      forbid("items", "items must be a schema object and not an array");
    }
    if (flag_of(schema, "uniqueItems")) {
      forbid("uniqueItems",
             "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    if (const json::Value* preserve = schema.find("x-kubernetes-preserve-unknown-fields");
        preserve != nullptr && preserve->is_boolean() && !preserve->as_bool()) {
      errors_.invalid(path_.child("x-kubernetes-preserve-unknown-fields"), "false",
                      "must be true or undefined");
    }
    if (std::string_view pattern = text_of(schema, "pattern"); !pattern.empty()) {
      if (auto compiled = Pattern::compile(pattern); !compiled) {
        errors_.invalid_text(
            path_.child("pattern"), pattern,
            "must be a valid regular expression, but isn't: " + compiled.error().message);
      }
    }
    if (has_default(schema) && !place.no_defaults.empty()) {
      forbid("default", "must not be set " + std::string(place.no_defaults));
    }
    if (place.inside_meta && flag_of(schema, "x-kubernetes-embedded-resource")) {
      forbid("x-kubernetes-embedded-resource", "must not be used inside of resource meta");
    }
  }

  void check_type(const json::Value& schema, Level level) {
    std::string_view type = text_of(schema, "type");
    bool embedded = flag_of(schema, "x-kubernetes-embedded-resource");
    bool preserve = flag_of(schema, "x-kubernetes-preserve-unknown-fields");
    bool either = flag_of(schema, "x-kubernetes-int-or-string");
    if (type == "array" && schema.find("items") == nullptr) {
      errors_.required(path_.child("items"), "must be specified");
    }
    if (embedded && type != "object") {
      require_type(type, "must be object if x-kubernetes-embedded-resource is true");
    } else if (type.empty() && !either && !preserve) {
      errors_.required(path_.child("type"), level == Level::root ? "must not be empty at the root"
                                            : level == Level::item
                                                ? "must not be empty for specified array items"
                                                : "must not be empty for specified object fields");
    }
    if (level == Level::root && !type.empty() && type != "object") {
      errors_.invalid_text(path_.child("type"), type, "must be object at the root");
    }
    if (either && preserve) {
      errors_.invalid(path_.child("x-kubernetes-preserve-unknown-fields"), "true",
                      "must be false if x-kubernetes-int-or-string is true");
    }
    if (either && embedded) {
      errors_.invalid(path_.child("x-kubernetes-embedded-resource"), "true",
                      "must be false if x-kubernetes-int-or-string is true");
    }
    const json::Value* properties = object_of(schema, "properties");
    if (embedded && !preserve && (properties == nullptr || properties->size() == 0)) {
      errors_.required(path_.child("properties"),
                       "must not be empty if x-kubernetes-embedded-resource is true without "
                       "x-kubernetes-preserve-unknown-fields");
    }
    const json::Value* additional = schema.find("additionalProperties");
    if (additional != nullptr && level == Level::root) {
      forbid("additionalProperties", "must not be used at the root");
    }
    if (additional != nullptr && embedded) {
      forbid("additionalProperties", "must not be used if x-kubernetes-embedded-resource is set");
    }
    bool open = additional != nullptr && additional->is_boolean() && additional->as_bool();
    if (additional != nullptr && !open && properties != nullptr && properties->size() > 0) {
      forbid("additionalProperties", "additionalProperties and properties are mutual exclusive");
    }
  }

  void require_type(std::string_view type, std::string_view detail) {
    if (type.empty()) {
      errors_.required(path_.child("type"), detail);
    } else {
      errors_.invalid_text(path_.child("type"), type, detail);
    }
  }

  void check_lists_and_maps(const json::Value& schema) {
    std::string_view type = text_of(schema, "type");
    std::string_view map_type = text_of(schema, "x-kubernetes-map-type");
    std::string_view list_type = text_of(schema, "x-kubernetes-list-type");
    if (!map_type.empty() && type != "object") {
      require_type(type, "must be object if x-kubernetes-map-type is specified");
    }
    if (!map_type.empty() && map_type != "atomic" && map_type != "granular") {
      errors_.not_supported(path_.child("x-kubernetes-map-type"), quote(map_type),
                            {"atomic", "granular"});
    }
    const json::Value* items = object_of(schema, "items");
    if (!list_type.empty() && type != "array") {
      require_type(type, "must be array if x-kubernetes-list-type is specified");
    } else if (list_type == "set" && items != nullptr) {
      check_set_items(*items);
    }
    if (!list_type.empty() && list_type != "atomic" && list_type != "set" && list_type != "map") {
      errors_.not_supported(path_.child("x-kubernetes-list-type"), quote(list_type),
                            {"atomic", "set", "map"});
    }
    const json::Value* keys = list_of(schema, "x-kubernetes-list-map-keys");
    if (keys != nullptr && list_type.empty()) {
      errors_.required(path_.child("x-kubernetes-list-type"),
                       "must be map if x-kubernetes-list-map-keys is non-empty");
    } else if (keys != nullptr && list_type != "map") {
      errors_.invalid_text(path_.child("x-kubernetes-list-type"), list_type,
                           "must be map if x-kubernetes-list-map-keys is non-empty");
    }
    if ((list_type == "map" || list_type == "set") && items != nullptr &&
        flag_of(*items, "nullable")) {
      auto step = path_.field("items");
      forbid("nullable",
             "cannot be nullable when x-kubernetes-list-type is " + std::string(list_type));
    }
    if (list_type == "map") {
      check_map_list(items, keys);
    }
  }

  void check_set_items(const json::Value& items) {
    auto step = path_.field("items");
    std::string_view type = text_of(items, "type");
    std::string_view inner = text_of(items, "x-kubernetes-list-type");
    constexpr std::string_view kDetail =
        "must be atomic as item of a list with x-kubernetes-list-type=set";
    if (type == "array" && !inner.empty() && inner != "atomic") {
      errors_.invalid_text(path_.child("x-kubernetes-list-type"), inner, kDetail);
    } else if (type == "object" && text_of(items, "x-kubernetes-map-type") != "atomic") {
      errors_.invalid(path_.child("x-kubernetes-map-type"), "null", kDetail);
    }
  }

  void check_map_list(const json::Value* items, const json::Value* keys) {
    if (keys == nullptr) {
      errors_.required(path_.child("x-kubernetes-list-map-keys"),
                       "must not be empty if x-kubernetes-list-type is map");
    }
    if (items == nullptr) {
      errors_.required(path_.child("items"), "must have a schema if x-kubernetes-list-type is map");
      return;
    }
    if (text_of(*items, "type") != "object") {
      auto step = path_.field("items");
      errors_.invalid_text(path_.child("type"), text_of(*items, "type"),
                           "must be object if parent array's x-kubernetes-list-type is map");
      return;
    }
    std::set<std::string_view> seen;
    const std::string shown = keys == nullptr ? std::string() : show(*keys);
    for (const json::Value& key :
         keys == nullptr ? std::span<const json::Value>() : keys->items()) {
      // Each complaint shows all keys.
      if (key.is_string() && !errors_.full()) {
        check_map_key(*items, key.as_string(), shown, !seen.insert(key.as_string()).second);
      }
    }
  }

  void check_map_key(const json::Value& items, std::string_view key, const std::string& keys,
                     bool repeated) {
    const json::Value* properties = object_of(items, "properties");
    const json::Value* property = properties == nullptr ? nullptr : properties->find(key);
    if (repeated) {
      errors_.invalid(path_.child("x-kubernetes-list-map-keys"), keys,
                      "must not contain duplicate entries");
    }
    if (property == nullptr) {
      errors_.invalid(path_.child("x-kubernetes-list-map-keys"), keys,
                      "entries must all be names of item properties");
      return;
    }
    const json::Value* required = list_of(items, "required");
    bool is_required =
        required != nullptr && std::ranges::any_of(required->items(), [&](const json::Value& name) {
          return name.is_string() && name.as_string() == key;
        });
    auto items_step = path_.field("items");
    auto properties_step = path_.field("properties");
    auto key_step = path_.key(key);
    std::string_view type = text_of(*property, "type");
    if (type == "array" || type == "object") {
      errors_.invalid_text(path_.child("type"), text_of(items, "type"),
                           "must be a scalar type if parent array's x-kubernetes-list-type is map");
    }
    if (!is_required && !has_default(*property)) {
      errors_.required(path_.child("default"),
                       "this property is in x-kubernetes-list-map-keys, so it must have a default "
                       "or be a required property");
    }
    if (flag_of(*property, "nullable")) {
      forbid("nullable",
             "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
  }

  void check_type_meta(const json::Value& schema, Level level) {
    const json::Value* properties = object_of(schema, "properties");
    if (properties == nullptr) {
      return;
    }
    auto step = path_.field("properties");
    for (std::string_view name : {"apiVersion", "kind", "metadata"}) {
      const json::Value* property = properties->find(name);
      std::string_view wanted = name == "metadata" ? "object" : "string";
      if (property != nullptr && text_of(*property, "type") != wanted) {
        auto key = path_.key(name);
        errors_.invalid_text(path_.child("type"), text_of(*property, "type"),
                             "must be " + std::string(wanted));
      }
    }
    const json::Value* metadata = properties->find("metadata");
    if (metadata != nullptr && level == Level::root && !restricts_names_only(*metadata)) {
      auto key = path_.key("metadata");
      errors_.forbidden(path_.text(),
                        "must not specify anything other than name and generateName, but metadata "
                        "is implicitly specified");
    }
  }

  static bool restricts_names_only(const json::Value& metadata) {
    for (const json::Member& member : metadata.members()) {
      if (member.key == "properties") {
        for (const json::Member& property : member.value.members()) {
          if (property.key != "name" && property.key != "generateName") {
            return false;
          }
        }
      } else if (member.key != "type" && member.key != "default" && member.key != "description") {
        return false;
      }
    }
    return true;
  }

  void check_branches(const json::Value& schema, bool skip_any_of) {
    for (std::string_view keyword : {"anyOf", "allOf", "oneOf"}) {
      const json::Value* branches = list_of(schema, keyword);
      if (branches == nullptr || (keyword == "anyOf" && skip_any_of)) {
        continue;
      }
      auto step = path_.field(keyword);
      for (std::size_t i = 0; i < branches->size(); ++i) {
        auto index = path_.index(i);
        bool pattern =
            keyword == "allOf" && i == 0 && is_int_or_string_any_of(branches->items()[i]);
        check_branch(branches->items()[i], pattern);
      }
    }
    if (const json::Value* negated = object_of(schema, "not")) {
      auto step = path_.field("not");
      check_branch(*negated, false);
    }
  }

  void check_branch(const json::Value& branch, bool skip_any_of) {
    check_keywords(branch, {.level = Level::field});
    check_branches(branch, skip_any_of);
    if (const json::Value* items = object_of(branch, "items")) {
      auto step = path_.field("items");
      check_branch(*items, false);
    }
    if (const json::Value* properties = object_of(branch, "properties")) {
      auto step = path_.field("properties");
      for (const json::Member& property : properties->members()) {
        auto key = path_.key(property.key);
        check_branch(property.value, false);
      }
      if (properties->find("metadata") != nullptr) {
        auto key = path_.key("metadata");
        errors_.forbidden(path_.text(), "must not be specified in a nested context");
      }
    }
    forbid_in_branch(branch);
  }

  void forbid_in_branch(const json::Value& branch) {
    struct Ban {
      std::string_view keyword;
      std::string_view detail;
    };
    static constexpr std::array<Ban, 13> kBans = {{
        {"type", "must be empty to be structural"},
        {"additionalProperties", "must be undefined to be structural"},
        {"default", "must be undefined to be structural"},
        {"title", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-list-type", "must be undefined to be structural"},
        {"x-kubernetes-map-type", "must be undefined to be structural"},
        {"x-kubernetes-validations", "must be empty to be structural"},
    }};
    for (const Ban& ban : kBans) {
      const json::Value* value = branch.find(ban.keyword);
      bool said = value != nullptr && !value->is_null() &&
                  !(value->is_boolean() && !value->as_bool()) &&
                  !(value->is_string() && value->as_string().empty()) &&
                  !(value->is_array() && value->size() == 0);
      if (said) {
        forbid(ban.keyword, ban.detail);
      }
    }
  }

  // Everything a branch names must also stand in the structural part.
  void check_complete(const json::Value& structure, const json::Value& branch,
                      const std::string& structure_path, const std::string& branch_path) {
    for (std::string_view keyword : {"not", "allOf", "anyOf", "oneOf"}) {
      const json::Value* branches = branch.find(keyword);
      if (branches == nullptr) {
        continue;
      }
      if (branches->is_object()) {
        check_branch_complete(&structure, *branches, structure_path, branch_path + ".not");
      }
      for (std::size_t i = 0; i < branches->items().size(); ++i) {
        check_branch_complete(
            &structure, branches->items()[i], structure_path,
            branch_path + "." + std::string(keyword) + "[" + std::to_string(i) + "]");
      }
    }
  }

  void check_branch_complete(const json::Value* structure, const json::Value& branch,
                             const std::string& structure_path, const std::string& branch_path) {
    if (structure == nullptr) {
      errors_.required(structure_path, "because it is defined in " + branch_path);
      return;
    }
    check_complete(*structure, branch, structure_path, branch_path);
    if (const json::Value* items = object_of(branch, "items")) {
      check_branch_complete(object_of(*structure, "items"), *items, structure_path + ".items",
                            branch_path + ".items");
    }
    const json::Value* properties = object_of(branch, "properties");
    const json::Value* known = object_of(*structure, "properties");
    json::MemberIndex by_name(known == nullptr ? std::span<const json::Member>()
                                               : known->members());
    for (const json::Member& property :
         properties == nullptr ? std::span<const json::Member>() : properties->members()) {
      const std::string step = ".properties[" + std::string(property.key) + "]";
      check_branch_complete(by_name.find(property.key), property.value, structure_path + step,
                            branch_path + step);
    }
  }

  void check_parts(const json::Value& schema, const SchemaPosition& place) {
    if (const json::Value* items = object_of(schema, "items")) {
      auto step = path_.field("items");
      check(*items, {Level::item, place.inside_meta, place.no_defaults});
    }
    if (const json::Value* additional = object_of(schema, "additionalProperties")) {
      auto step = path_.field("additionalProperties");
      check(*additional,
            {Level::field, place.inside_meta,
             place.inside_meta ? "inside additionalProperties applying to object metadata"
                               : place.no_defaults});
    }
    const json::Value* properties = object_of(schema, "properties");
    if (properties == nullptr) {
      return;
    }
    bool has_meta = place.level == Level::root || flag_of(schema, "x-kubernetes-embedded-resource");
    auto step = path_.field("properties");
    for (const json::Member& property : properties->members()) {
      SchemaPosition part{Level::field, place.inside_meta, place.no_defaults};
      std::string reason;
      if (has_meta && is_type_meta(property.key)) {
        part.inside_meta = true;
        if (place.level == Level::root) {
          reason = "in top-level " + std::string(property.key);
          part.no_defaults = reason;
        }
      }
      auto key = path_.key(property.key);
      check(property.value, part);
    }
  }

  const CompileOptions& options_;
  FieldErrors& errors_;
  FieldPath path_;
  FieldPath::Step base_;
};

bool has_newline(std::string_view text) {
  return text.find_first_of("\r\n") != std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// A rule as upstream shows it.
std::string show_rule(const json::Value& rule) {
  std::string text;
  json::Writer writer(text);
  auto member = [&](std::string_view name, std::string_view key, bool null) {
    const json::Value* value = rule.find(key);
    writer.key(name);
    if (value != nullptr) {
      writer.value(*value);
    } else if (null) {
      writer.null();
    } else {
      writer.string("");
    }
  };
  writer.begin_object();
  member("Rule", "rule", false);
  member("Message", "message", false);
  member("MessageExpression", "messageExpression", false);
  member("Reason", "reason", true);
  member("FieldPath", "fieldPath", false);
  member("OptionalOldSelf", "optionalOldSelf", true);
  writer.end_object();
  return text;
}

// Walks the structural part for x-kubernetes-validations.
class SchemaRuleChecker {
 public:
  SchemaRuleChecker(const CompileOptions& options, FieldErrors& errors)
      : options_(options), errors_(errors), base_(path_.field(options.path)) {}

  void check_all(const json::Value& schema) {
    check(schema, {.root = true, .uncorrelated = {}, .repeated = 1});
    if (options_.limit_rule_costs) {
      costs_.check_total(options_.path, errors_);
    }
  }

 private:
  struct Around {
    bool root = false;
    // The nearest part around this one whose old value can't be found; empty: none.
    std::string uncorrelated{};
    // How often the value can occur by the bounds of lists and maps around it; none: no bound.
    std::optional<std::uint64_t> repeated{};
  };

  void check(const json::Value& schema, const Around& around) {
    const std::string& uncorrelated = around.uncorrelated;
    if (const json::Value* rules = list_of(schema, "x-kubernetes-validations")) {
      auto step = path_.field("x-kubernetes-validations");
      const RuleCompiler::Site place{.schema = schema, .root = around.root};
      const std::uint64_t repeated = around.repeated ? *around.repeated
                                     : options_.rules == nullptr
                                         ? 1
                                         : options_.rules->occurrences_max(place);
      for (std::size_t i = 0; i < rules->size(); ++i) {
        auto index = path_.index(i);
        check_rule(rules->items()[i], place, uncorrelated, repeated);
      }
    }
    auto below = [&](bool correlated) -> Around {
      return {.uncorrelated = uncorrelated.empty() && !correlated ? path_.text() : uncorrelated,
              .repeated = repeated_below(schema, around.repeated)};
    };
    if (const json::Value* items = object_of(schema, "items")) {
      const Around inner = below(text_of(schema, "x-kubernetes-list-type") == "map");
      auto step = path_.field("items");
      check(*items, inner);
    }
    if (const json::Value* additional = object_of(schema, "additionalProperties")) {
      const Around inner = below(true);
      auto step = path_.field("additionalProperties");
      check(*additional, inner);
    }
    if (const json::Value* properties = object_of(schema, "properties")) {
      const Around inner = below(text_of(schema, "x-kubernetes-map-type") != "atomic");
      auto step = path_.field("properties");
      for (const json::Member& property : properties->members()) {
        auto key = path_.key(property.key);
        check(property.value, inner);
      }
    }
  }

  // The bound of the parts of a list or map; those of an object occur as often as the object.
  static std::optional<std::uint64_t> repeated_below(const json::Value& schema,
                                                     std::optional<std::uint64_t> repeated) {
    const std::string_view type = text_of(schema, "type");
    const bool map = type == "object" && has_additional(schema);
    if (!repeated || (type != "array" && !map)) {
      return repeated;
    }
    const std::optional<std::int64_t> most = integer_of(schema, map ? "maxProperties" : "maxItems");
    if (!most) {
      return std::nullopt;
    }
    return multiplied(*repeated, static_cast<std::uint64_t>(std::max<std::int64_t>(*most, 0)));
  }

  static std::uint64_t multiplied(std::uint64_t cost, std::uint64_t count) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return cost != 0 && count > kMost / cost ? kMost : cost * count;
  }

  void add_costs(const RuleCompiler::Compiled& compiled, std::uint64_t repeated) {
    if (!options_.limit_rule_costs) {
      return;
    }
    costs_.add(path_.child("rule"), "estimated rule cost", multiplied(compiled.cost_max, repeated),
               errors_);
    if (compiled.message_cost_max > 0) {
      costs_.add(path_.child("messageExpression"), "estimated messageExpression cost",
                 compiled.message_cost_max, errors_);
    }
  }

  void check_rule(const json::Value& rule, const RuleCompiler::Site& place,
                  const std::string& uncorrelated, std::uint64_t repeated) {
    std::string_view text = trim(text_of(rule, "rule"));
    std::string_view message = text_of(rule, "message");
    if (text.empty()) {
      errors_.required(path_.child("rule"), "rule is not specified");
      return;
    }
    if (!message.empty() && trim(message).empty()) {
      errors_.invalid_text(path_.child("message"), message,
                           "message must be non-empty if specified");
    } else if (has_newline(trim(message))) {
      errors_.invalid_text(path_.child("message"), message, "message must not contain line breaks");
    } else if (has_newline(text) && trim(message).empty()) {
      errors_.required(path_.child("message"),
                       "message must be specified if rule contains line breaks");
    }
    static constexpr std::array<std::string_view, 4> kReasons = {
        "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"};
    std::string_view reason = text_of(rule, "reason");
    if (!reason.empty() && std::ranges::find(kReasons, reason) == kReasons.end()) {
      errors_.not_supported(path_.child("reason"), quote(reason),
                            {kReasons.begin(), kReasons.end()});
    }
    if (options_.rules == nullptr) {
      errors_.forbidden(path_.text(), "rules are not supported here");
      return;
    }
    auto compiled = options_.rules->compile(rule, place);
    if (compiled) {
      add_costs(*compiled, repeated);
    }
    if (!compiled) {
      errors_.invalid(path_.child("rule"), show_rule(rule), compiled.error().message);
    } else if (compiled->uses_old_self && !uncorrelated.empty()) {
      errors_.invalid_text(
          path_.child("rule"), text_of(rule, "rule"),
          "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
              uncorrelated);
    } else if (!compiled->uses_old_self && rule.find("optionalOldSelf") != nullptr) {
      errors_.invalid(path_.child("optionalOldSelf"), show(*rule.find("optionalOldSelf")),
                      "may not be set if oldSelf is not used in rule");
    }
  }

  const CompileOptions& options_;
  FieldErrors& errors_;
  RuleCosts costs_;
  FieldPath path_;
  FieldPath::Step base_;
};

}  // namespace

void check_structural(const json::Value& schema, const CompileOptions& options,
                      FieldErrors& errors) {
  FieldErrors found;
  StructuralChecker(options, found).check(schema, {.level = Level::root});
  if (flag_of(schema, "nullable")) {
    found.forbidden(options.path + ".nullable", "nullable cannot be true at the root");
  }
  std::vector<model::StatusCause> causes = found.causes();
  std::ranges::sort(causes, {}, [](const model::StatusCause& cause) {
    return cause.field + ": " + cause.message;
  });
  for (model::StatusCause& cause : causes) {
    errors.add(std::move(cause));
  }
}

void check_schema_rules(const json::Value& schema, const CompileOptions& options,
                        FieldErrors& errors) {
  SchemaRuleChecker(options, errors).check_all(schema);
}

}  // namespace codeflare::apiserver::schema::internal
