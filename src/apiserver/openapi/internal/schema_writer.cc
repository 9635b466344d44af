#include "apiserver/openapi/internal/schema_writer.h"

#include "apiserver/schema/builtin.h"
#include "apiserver/schema/checks.h"
#include "json/member_index.h"

#include <array>
#include <span>

namespace codeflare::apiserver::openapi {
namespace {

using schema::Node;
using schema::Shape;

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

// Types that the graph has as shapes and OpenAPI as names.
struct KnownType {
  Shape shape;
  std::string_view name;
  std::string_view json;
};
constexpr std::array<KnownType, 5> kKnown = {{
    {Shape::quantity, "io.k8s.apimachinery.pkg.api.resource.Quantity",
     R"({"oneOf":[{"type":"string"},{"type":"number"}]})"},
    {Shape::int_or_string, "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
     R"({"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})"},
    {Shape::time, "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
     R"({"format":"date-time","type":"string"})"},
    {Shape::micro_time, "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
     R"({"format":"date-time","type":"string"})"},
    {Shape::duration, "io.k8s.apimachinery.pkg.apis.meta.v1.Duration", R"({"type":"string"})"},
}};

const KnownType* known_type(Shape shape) {
  for (const KnownType& known : kKnown) {
    if (known.shape == shape) {
      return &known;
    }
  }
  return nullptr;
}

const Node& known_node(Shape shape) {
  static const std::array<Node, kKnown.size()> kNodes = {{{.shape = Shape::quantity},
                                                          {.shape = Shape::int_or_string},
                                                          {.shape = Shape::time},
                                                          {.shape = Shape::micro_time},
                                                          {.shape = Shape::duration}}};
  for (const Node& node : kNodes) {
    if (node.shape == shape) {
      return node;
    }
  }
  return kNodes[0];
}

std::string_view json_type(Shape shape) {
  switch (shape) {
    case Shape::boolean:
      return "boolean";
    case Shape::integer:
      return "integer";
    case Shape::number:
      return "number";
    case Shape::list:
      return "array";
    case Shape::structure:
    case Shape::map:
      return "object";
    case Shape::any:
      return {};
    default:
      return "string";
  }
}

// Says nothing at all. kubectl explain takes an empty schema for a missing one.
bool is_open(const Node& node) {
  return node.shape == Shape::any && !node.preserve_unknown && node.checks == nullptr;
}

// The schema of that version as its author wrote it.
const json::Value* find_words(const json::Document& definition, const ServedVersion& version) {
  const json::Value* versions = definition.root.get({"spec", "versions"});
  for (const json::Value& each :
       versions == nullptr ? std::span<const json::Value>() : versions->items()) {
    if (each.string_or_empty("name") == version.version) {
      return each.get({"schema", "openAPIV3Schema"});
    }
  }
  return nullptr;
}

}  // namespace

SchemaWriter::Step::Step(SchemaWriter& writer, const json::Value* words)
    : writer_(writer), before_(writer.words_) {
  writer_.words_ = words;
}

const json::Value* SchemaWriter::words_under(std::string_view keyword) const {
  return words_ == nullptr ? nullptr : words_->find(keyword);
}

void SchemaWriter::want(const Node& node) {
  if (!node.type_name.empty() && !written_.contains(node.type_name)) {
    wanted_.emplace(node.type_name, &node);
  }
}

void SchemaWriter::want_custom(const Resource& resource, const ServedVersion& version) {
  customs_.emplace_back(&resource, &version);
}

void SchemaWriter::write_all() {
  for (const auto& [resource, version] : customs_) {
    write_custom(*resource, *version);
  }
  while (!wanted_.empty()) {
    auto [name, node] = *wanted_.begin();
    wanted_.erase(wanted_.begin());
    written_.emplace(name, node);
    write_named(name, *node);
  }
}

void SchemaWriter::write_gvk(std::initializer_list<Gvk> kinds) {
  writer_.key("x-kubernetes-group-version-kind").begin_array();
  for (const Gvk& kind : kinds) {
    writer_.begin_object()
        .member("group", kind.group)
        .member("kind", kind.kind)
        .member("version", kind.version)
        .end_object();
  }
  writer_.end_array();
}

void SchemaWriter::write_named(std::string_view name, const Node& node) {
  writer_.key(name);
  if (const KnownType* known = known_type(node.shape)) {
    writer_.raw(known->json);
    return;
  }
  custom_ = false;
  writer_.begin_object();
  write_body(node);
  bool first = true;
  for (const schema::BuiltinKind& kind : schema::builtin_kinds()) {
    if (kind.schema == &node) {
      if (first) {
        writer_.key("x-kubernetes-group-version-kind").begin_array();
        first = false;
      }
      writer_.begin_object()
          .member("group", kind.group)
          .member("kind", kind.kind)
          .member("version", kind.version)
          .end_object();
    }
  }
  if (!first) {
    writer_.end_array();
  }
  writer_.end_object();
}

void SchemaWriter::write_custom(const Resource& resource, const ServedVersion& version) {
  const std::string name = schema_name(resource, version);
  custom_ = true;
  writer_.key(name).begin_object();
  if (version.schema != nullptr) {
    const json::Document definition =
        find_definition_ ? find_definition_(resource.qualified_name()) : json::Document();
    words_ = find_words(definition, version);
    write_body(*version.schema);
    words_ = nullptr;
  } else {
    writer_.member("type", "object");
  }
  write_gvk({{resource.group, version.version, resource.kind}});
  writer_.end_object();

  writer_.key(name + "List").begin_object().member("type", "object");
  writer_.key("required").begin_array().string("items").end_array();
  writer_.key("properties").begin_object();
  writer_.key("apiVersion").begin_object().member("type", "string").end_object();
  writer_.key("items").begin_object().member("type", "array").key("items");
  write_reference(name, true);
  writer_.end_object();
  writer_.key("kind").begin_object().member("type", "string").end_object();
  writer_.key("metadata");
  write_reference(std::string(kMeta) + "ListMeta", true);
  writer_.end_object();
  write_gvk({{resource.group, version.version, resource.list_kind}});
  writer_.end_object();
  // Every list has it: found through one that does.
  if (const Node* list = schema::find_builtin("", "v1", "PodList")) {
    if (const schema::Field* metadata = list->find("metadata")) {
      want(*metadata->node);
    }
  }
}

// Inside a property references stand in allOf, as upstream writes them: other keywords may stand
// beside them.
void SchemaWriter::write_reference(std::string_view name, bool wrapped) {
  const std::string reference = std::string(prefix_) + std::string(name);
  writer_.begin_object();
  if (wrapped) {
    writer_.key("allOf")
        .begin_array()
        .begin_object()
        .member("$ref", reference)
        .end_object()
        .end_array();
  } else {
    writer_.member("$ref", reference);
  }
  writer_.end_object();
}

void SchemaWriter::write_node(const Node& node) {
  const KnownType* known = custom_ ? nullptr : known_type(node.shape);
  std::string_view name = known != nullptr ? known->name : node.type_name;
  if (name.empty()) {
    writer_.begin_object();
    write_body(node);
    writer_.end_object();
    return;
  }
  if (known != nullptr) {
    if (!written_.contains(name)) {
      wanted_.emplace(name, &known_node(node.shape));
    }
  } else {
    want(node);
  }
  writer_.begin_object();
  writer_.key("allOf")
      .begin_array()
      .begin_object()
      .member("$ref", std::string(prefix_) + std::string(name))
      .end_object()
      .end_array();
  write_description();
  write_common(node);
  writer_.end_object();
}

void SchemaWriter::write_description() {
  if (words_ != nullptr) {
    writer_.member_if_set("description", words_->string_or_empty("description"));
  }
}

void SchemaWriter::write_body(const Node& node) {
  write_description();
  if (std::string_view type = json_type(node.shape);
      !type.empty() && !(custom_ && node.shape == Shape::int_or_string)) {
    writer_.member("type", type);
  } else if (is_open(node)) {
    writer_.member("type", "object");
  }
  switch (node.shape) {
    case Shape::integer:
      writer_.member("format", node.bits == 32 ? "int32" : "int64");
      break;
    case Shape::number:
      writer_.member("format", "double");
      break;
    case Shape::bytes:
      writer_.member("format", "byte");
      break;
    case Shape::time:
    case Shape::micro_time:
      writer_.member("format", "date-time");
      break;
    case Shape::int_or_string:
      writer_.key("x-kubernetes-int-or-string").boolean(true);
      break;
    case Shape::list:
      write_list(node);
      break;
    case Shape::structure:
    case Shape::map:
      write_object(node);
      break;
    default:
      break;
  }
  if (node.preserve_unknown) {
    writer_.key("x-kubernetes-preserve-unknown-fields").boolean(true);
  }
  if (node.embedded_resource) {
    writer_.key("x-kubernetes-embedded-resource").boolean(true);
  }
  write_checks(node);
  write_common(node);
}

void SchemaWriter::write_common(const Node& node) {
  if (node.nullable) {
    writer_.key("nullable").boolean(true);
  }
  if (!node.default_json.empty()) {
    writer_.key("default").raw(node.default_json);
  }
  std::string strategy = node.patch == schema::PatchStrategy::merge     ? "merge"
                         : node.patch == schema::PatchStrategy::replace ? "replace"
                                                                        : "";
  if (node.retain_keys) {
    strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  }
  writer_.member_if_set("x-kubernetes-patch-merge-key", node.merge_key);
  writer_.member_if_set("x-kubernetes-patch-strategy", strategy);
}

void SchemaWriter::write_list(const Node& node) {
  writer_.key("items");
  if (node.items != nullptr) {
    const Step step(*this, words_under("items"));
    write_node(*node.items);
  } else {
    writer_.begin_object().end_object();
  }
  std::string_view type = node.list_type == schema::ListType::set   ? "set"
                          : node.list_type == schema::ListType::map ? "map"
                                                                    : "atomic";
  writer_.member("x-kubernetes-list-type", type);
  if (!node.map_keys.empty()) {
    writer_.key("x-kubernetes-list-map-keys").begin_array();
    for (std::string_view key : node.map_keys) {
      writer_.string(key);
    }
    writer_.end_array();
  }
}

void SchemaWriter::write_object(const Node& node) {
  if (!node.fields.empty()) {
    writer_.key("properties").begin_object();
    const json::Value* words = words_under("properties");
    json::MemberIndex properties(words == nullptr ? std::span<const json::Member>()
                                                  : words->members());
    for (const schema::Field& field : node.fields) {
      const Step step(*this, properties.find(field.name));
      writer_.key(field.name);
      write_node(*field.node);
    }
    writer_.end_object();
    bool any = false;
    for (const schema::Field& field : node.fields) {
      if (field.required) {
        any ? writer_ : writer_.key("required").begin_array();
        any = true;
        writer_.string(field.name);
      }
    }
    if (any) {
      writer_.end_array();
    }
  }
  if (node.items != nullptr) {
    const Step step(*this, words_under("additionalProperties"));
    writer_.key("additionalProperties");
    write_node(*node.items);
  }
  if (node.atomic) {
    writer_.member("x-kubernetes-map-type", "atomic");
  }
}

void SchemaWriter::write_checks(const Node& node) {
  if (node.checks == nullptr) {
    return;
  }
  const schema::Checks& checks = *node.checks;
  auto number = [&](std::string_view key, std::optional<double> value) {
    if (value) {
      writer_.key(key).number(*value);
    }
  };
  auto integer = [&](std::string_view key, std::optional<std::int64_t> value) {
    if (value) {
      writer_.key(key).integer(*value);
    }
  };
  number("minimum", checks.minimum);
  number("maximum", checks.maximum);
  number("multipleOf", checks.multiple_of);
  if (checks.exclusive_minimum) {
    writer_.key("exclusiveMinimum").boolean(true);
  }
  if (checks.exclusive_maximum) {
    writer_.key("exclusiveMaximum").boolean(true);
  }
  integer("minLength", checks.length_min);
  integer("maxLength", checks.length_max);
  integer("minItems", checks.items_min);
  integer("maxItems", checks.items_max);
  integer("minProperties", checks.properties_min);
  integer("maxProperties", checks.properties_max);
  if (checks.pattern != nullptr) {
    writer_.member("pattern", checks.pattern->text());
  }
  writer_.member_if_set("format", checks.format);
  if (!checks.enumeration.empty()) {
    writer_.key("enum").begin_array();
    for (const json::Value& choice : checks.enumeration) {
      writer_.value(choice);
    }
    writer_.end_array();
  }
}

}  // namespace codeflare::apiserver::openapi
