#include "apiserver/schema/compile.h"

#include "apiserver/schema/internal/field_path.h"
#include "apiserver/schema/internal/structural.h"
#include "apiserver/schema/internal/structure_check.h"
#include "apiserver/schema/keywords.h"
#include "apiserver/schema/walk.h"
#include "json/write.h"

#include <algorithm>
#include <deque>
#include <map>

namespace codeflare::apiserver::schema {
namespace {

using keywords::flag_of;
using keywords::has_default;
using keywords::integer_of;
using keywords::list_of;
using keywords::number_of;
using keywords::object_of;
using keywords::text_of;

class Nodes final : public CompiledSchema {
 public:
  const Node& root() const override { return *root_; }
  std::size_t node_count() const override { return nodes_.size(); }

  template <typename T>
  std::span<const T> copy(const std::vector<T>& values) {
    void* memory = arena_.allocate(values.size() * sizeof(T), alignof(T));
    T* at = static_cast<T*>(memory);
    std::uninitialized_copy(values.begin(), values.end(), at);
    return {at, values.size()};
  }

  json::Arena arena_;
  std::deque<Node> nodes_;
  std::deque<Checks> checks_;
  const Node* root_ = nullptr;
};

// Keywords that say nothing about a value, and those whose parts are compared as nodes.
bool is_left_out(std::string_view keyword) {
  return keyword == "description" || keyword == "title" || keyword == "example" ||
         keyword == "externalDocs" || keyword == "properties" || keyword == "items" ||
         keyword == "additionalProperties";
}

class Compiler {
 public:
  Compiler(const CompileOptions& options, FieldErrors& errors)
      : options_(options),
        errors_(errors),
        base_(path_.field(options.path)),
        nodes_(std::make_shared<Nodes>()) {}

  std::shared_ptr<Nodes> run(const json::Value& schema) {
    nodes_->root_ = compile(schema, true);
    return nodes_;
  }

 private:
  struct Parts {
    std::vector<Field> fields{};
    const Node* items = nullptr;
    const Node* additional = nullptr;
  };

  const Node* compile(const json::Value& schema, bool root) {
    Parts parts = compile_parts(schema, root);
    return intern(schema, parts, root ? 'r' : 's', [&] { return make(schema, parts, root); });
  }

  // A branch only validates: what it does not say is not checked.
  const Node* compile_branch(const json::Value& schema) {
    Parts parts;
    if (const json::Value* properties = object_of(schema, "properties")) {
      for (const json::Member& property : properties->members()) {
        parts.fields.push_back({.name = property.key, .node = compile_branch(property.value)});
      }
    }
    if (const json::Value* items = object_of(schema, "items")) {
      parts.items = compile_branch(*items);
    }
    return intern(schema, parts, 'b', [&] {
      Node& node = nodes_->nodes_.emplace_back();
      std::string_view type = text_of(schema, "type");
      node.shape = type.empty() ? Shape::any : shape_of(schema);
      node.fields = keep_fields(std::move(parts.fields));
      Checks checks = read_checks(schema);
      checks.branch_items = parts.items;
      nodes_->checks_.push_back(std::move(checks));
      node.checks = &nodes_->checks_.back();
      return &node;
    });
  }

  template <typename Make>
  const Node* intern(const json::Value& schema, const Parts& parts, char kind, Make make) {
    std::string key(1, kind);
    for (const json::Member& member : schema.members()) {
      if (!is_left_out(member.key)) {
        key.append(member.key).push_back(':');
        json::append_text(key, member.value);
      }
    }
    auto add_pointer = [&](const Node* node) {
      key.append("@").append(std::to_string(reinterpret_cast<std::uintptr_t>(node)));
    };
    for (const Field& field : parts.fields) {
      key.append(field.name);
      add_pointer(field.node);
    }
    add_pointer(parts.items);
    key.push_back(keywords::has_additional(schema) ? '+' : '-');
    add_pointer(parts.additional);
    auto [at, added] = interned_.try_emplace(std::move(key), nullptr);
    if (added) {
      at->second = make();
    }
    return at->second;
  }

  Parts compile_parts(const json::Value& schema, bool root) {
    Parts parts;
    bool has_meta = root || flag_of(schema, "x-kubernetes-embedded-resource");
    if (const json::Value* properties = object_of(schema, "properties")) {
      auto step = path_.field("properties");
      for (const json::Member& property : properties->members()) {
        auto key = path_.key(property.key);
        if (has_meta && property.key == "metadata") {
          parts.fields.push_back({.name = property.key, .node = compile_metadata(property.value)});
        } else {
          parts.fields.push_back({.name = property.key, .node = compile(property.value, false)});
        }
      }
    }
    if (has_meta) {
      add_type_meta(parts);
    }
    if (const json::Value* items = object_of(schema, "items")) {
      auto step = path_.field("items");
      parts.items = compile(*items, false);
    }
    if (const json::Value* additional = object_of(schema, "additionalProperties")) {
      auto step = path_.field("additionalProperties");
      parts.additional = compile(*additional, false);
    } else if (flag_of(schema, "additionalProperties")) {
      parts.additional = &kOpen;
    }
    std::ranges::sort(parts.fields, {}, &Field::name);
    return parts;
  }

  void add_type_meta(Parts& parts) {
    auto add = [&](std::string_view name, const Node& node) {
      if (std::ranges::find(parts.fields, name, &Field::name) == parts.fields.end()) {
        parts.fields.push_back({.name = name, .node = &node});
      }
    };
    add("apiVersion", kText);
    add("kind", kText);
    add("metadata", options_.object_meta);
  }

  // ObjectMeta, with what the schema says about names on top.
  const Node* compile_metadata(const json::Value& schema) {
    const json::Value* properties = object_of(schema, "properties");
    if (properties == nullptr || properties->size() == 0) {
      return &options_.object_meta;
    }
    std::vector<Field> fields(options_.object_meta.fields.begin(),
                              options_.object_meta.fields.end());
    for (Field& field : fields) {
      if (const json::Value* property = properties->find(field.name)) {
        if (field.name == "name" || field.name == "generateName") {
          field.node = compile(*property, false);
        }
      }
    }
    Node& node = nodes_->nodes_.emplace_back(options_.object_meta);
    node.fields = nodes_->copy(fields);
    return &node;
  }

  static Shape shape_of(const json::Value& schema) {
    std::string_view type = text_of(schema, "type");
    if (flag_of(schema, "x-kubernetes-int-or-string")) {
      return Shape::int_or_string;
    }
    if (type == "object") {
      const json::Value* properties = object_of(schema, "properties");
      bool named = properties != nullptr && properties->size() > 0;
      return keywords::has_additional(schema) && !named ? Shape::map : Shape::structure;
    }
    return type == "array"     ? Shape::list
           : type == "boolean" ? Shape::boolean
           : type == "integer" ? Shape::integer
           : type == "number"  ? Shape::number
           : type == "string"  ? Shape::string
                               : Shape::any;
  }

  std::span<const Field> keep_fields(std::vector<Field> fields) {
    for (Field& field : fields) {
      field.name = nodes_->arena_.copy(field.name);
    }
    std::ranges::sort(fields, {}, &Field::name);
    return nodes_->copy(fields);
  }

  const Node* make(const json::Value& schema, Parts& parts, bool root) {
    Node& node = nodes_->nodes_.emplace_back();
    node.shape = shape_of(schema);
    node.bits = text_of(schema, "format") == "int32" ? 32 : 64;
    std::string_view list_type = text_of(schema, "x-kubernetes-list-type");
    node.list_type = list_type == "set"   ? ListType::set
                     : list_type == "map" ? ListType::map
                                          : ListType::atomic;
    node.atomic = text_of(schema, "x-kubernetes-map-type") == "atomic";
    node.nullable = flag_of(schema, "nullable");
    node.preserve_unknown = flag_of(schema, "x-kubernetes-preserve-unknown-fields");
    node.embedded_resource = !root && flag_of(schema, "x-kubernetes-embedded-resource");
    node.items = node.shape == Shape::list ? parts.items : parts.additional;
    node.map_keys = read_map_keys(schema);
    bool rules_below = has_rules(parts);
    mark_required(schema, parts.fields);
    node.fields = keep_fields(std::move(parts.fields));
    if (has_default(schema)) {
      node.default_json = nodes_->arena_.copy(json::to_text(*schema.find("default")));
    }
    Checks checks = read_checks(schema);
    checks.rules_below = rules_below || !checks.rules.empty();
    if (says_something(checks)) {
      nodes_->checks_.push_back(std::move(checks));
      node.checks = &nodes_->checks_.back();
    }
    check_default(schema, node);
    return &node;
  }

  static bool has_rules(const Parts& parts) {
    auto below = [](const Node* node) {
      return node != nullptr && node->checks != nullptr && node->checks->rules_below;
    };
    return below(parts.items) || below(parts.additional) ||
           std::ranges::any_of(parts.fields, [&](const Field& field) { return below(field.node); });
  }

  std::span<const std::string_view> read_map_keys(const json::Value& schema) {
    std::vector<std::string_view> keys;
    if (const json::Value* list = list_of(schema, "x-kubernetes-list-map-keys")) {
      for (const json::Value& key : list->items()) {
        keys.push_back(nodes_->arena_.copy(key.is_string() ? key.as_string() : std::string_view()));
      }
    }
    return nodes_->copy(keys);
  }

  static void mark_required(const json::Value& schema, std::vector<Field>& fields) {
    const json::Value* required = list_of(schema, "required");
    for (const json::Value& name :
         required == nullptr ? std::span<const json::Value>() : required->items()) {
      for (Field& field : fields) {
        field.required = field.required || (name.is_string() && field.name == name.as_string());
      }
    }
  }

  Checks read_checks(const json::Value& schema) {
    Checks checks;
    json::Arena& arena = nodes_->arena_;
    if (const json::Value* required = list_of(schema, "required")) {
      for (const json::Value& name : required->items()) {
        if (name.is_string()) {
          checks.required.push_back(arena.copy(name.as_string()));
        }
      }
    }
    if (const json::Value* choices = list_of(schema, "enum")) {
      for (const json::Value& choice : choices->items()) {
        checks.enumeration.push_back(choice.clone(arena));
      }
    }
    checks.pattern = read_pattern(text_of(schema, "pattern"));
    if (std::string_view format = text_of(schema, "format");
        !format.empty() && format_is_known(format)) {
      checks.format = arena.copy(format);
    }
    read_bounds(schema, checks);
    read_branches(schema, checks);
    read_rules(schema, checks);
    return checks;
  }

  static void read_bounds(const json::Value& schema, Checks& checks) {
    checks.minimum = number_of(schema, "minimum");
    checks.maximum = number_of(schema, "maximum");
    checks.multiple_of = number_of(schema, "multipleOf");
    checks.exclusive_minimum = flag_of(schema, "exclusiveMinimum");
    checks.exclusive_maximum = flag_of(schema, "exclusiveMaximum");
    checks.unique_items = flag_of(schema, "uniqueItems");
    checks.length_min = integer_of(schema, "minLength");
    checks.length_max = integer_of(schema, "maxLength");
    checks.items_min = integer_of(schema, "minItems");
    checks.items_max = integer_of(schema, "maxItems");
    checks.properties_min = integer_of(schema, "minProperties");
    checks.properties_max = integer_of(schema, "maxProperties");
  }

  void read_branches(const json::Value& schema, Checks& checks) {
    auto read = [&](std::string_view keyword, std::vector<const Node*>& into) {
      if (const json::Value* branches = list_of(schema, keyword)) {
        for (const json::Value& branch : branches->items()) {
          into.push_back(compile_branch(branch));
        }
      }
    };
    read("allOf", checks.all_of);
    read("anyOf", checks.any_of);
    read("oneOf", checks.one_of);
    if (const json::Value* negated = object_of(schema, "not")) {
      checks.negated = compile_branch(*negated);
    }
  }

  void read_rules(const json::Value& schema, Checks& checks) {
    const json::Value* rules = list_of(schema, "x-kubernetes-validations");
    if (rules == nullptr || options_.rules == nullptr) {
      return;
    }
    for (const json::Value& rule : rules->items()) {
      if (auto compiled = options_.rules->compile(rule, {.schema = schema})) {
        checks.rules.push_back(std::move(compiled->rule));
      }
    }
  }

  std::shared_ptr<const Pattern> read_pattern(std::string_view text) {
    if (text.empty()) {
      return nullptr;
    }
    std::shared_ptr<const Pattern>& pattern = patterns_[std::string(text)];
    if (pattern == nullptr) {
      if (auto compiled = Pattern::compile(text)) {
        pattern = *std::move(compiled);
      }
    }
    return pattern;
  }

  static bool says_something(const Checks& checks) {
    return !checks.required.empty() || !checks.enumeration.empty() || checks.pattern != nullptr ||
           !checks.format.empty() || checks.minimum || checks.maximum || checks.multiple_of ||
           checks.unique_items || checks.length_min || checks.length_max || checks.items_min ||
           checks.items_max || checks.properties_min || checks.properties_max ||
           !checks.all_of.empty() || !checks.any_of.empty() || !checks.one_of.empty() ||
           checks.negated != nullptr || checks.rules_below;
  }

  // A default must be something that the schema itself accepts and keeps.
  void check_default(const json::Value& schema, const Node& node) {
    if (!has_default(schema)) {
      return;
    }
    const json::Value& value = *schema.find("default");
    const std::string path = path_.child("default");
    json::Arena arena;
    json::Value pruned = value.clone(arena);
    std::vector<std::string> unknown;
    prune(node, pruned, &unknown);
    if (!unknown.empty() || !json::equal(pruned, value)) {
      errors_.invalid(path, show(value), "must not have unknown fields");
    }
    FieldErrors found;
    validate(node, value, nullptr, found);
    for (model::StatusCause cause : found.causes()) {
      bool whole = cause.field.empty() || cause.field == "<nil>";
      cause.field = whole                          ? path
                    : cause.field.starts_with('[') ? path + cause.field
                                                   : path + "." + cause.field;
      errors_.add(std::move(cause));
    }
  }

  static inline const Node kText{.shape = Shape::string};
  static inline const Node kOpen{.shape = Shape::any};

  const CompileOptions& options_;
  FieldErrors& errors_;
  internal::FieldPath path_;
  internal::FieldPath::Step base_;
  std::shared_ptr<Nodes> nodes_;
  std::map<std::string, const Node*, std::less<>> interned_;
  std::map<std::string, std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace

std::shared_ptr<const CompiledSchema> compile(const json::Value& schema,
                                              const CompileOptions& options, FieldErrors& errors) {
  FieldErrors found;
  internal::check_structural(schema, options, found);
  if (found.empty()) {
    internal::check_schema_rules(schema, options, found);
  }
  std::shared_ptr<const CompiledSchema> compiled;
  if (found.empty()) {
    compiled = Compiler(options, found).run(schema);
  }
  for (const model::StatusCause& cause : found.causes()) {
    errors.add(cause);
  }
  return found.empty() ? compiled : nullptr;
}

}  // namespace codeflare::apiserver::schema
