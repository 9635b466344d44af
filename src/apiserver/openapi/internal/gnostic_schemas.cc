#include "apiserver/openapi/internal/gnostic_schemas.h"

#include "apiserver/openapi/internal/protobuf.h"
#include "apiserver/schema/builtin.h"

#include <array>

namespace codeflare::apiserver::openapi {
namespace {

using schema::Node;
using schema::Shape;

// Fields of gnostic's Schema.
enum : std::uint32_t {
  kRef = 1,
  kFormat = 2,
  kRequired = 19,
  kAdditional = 21,
  kType = 22,
  kItems = 23,
  kProperties = 25,
  kExtension = 31
};

struct KnownType {
  Shape shape;
  std::string_view name;
  std::string_view format;
};
constexpr std::array<KnownType, 5> kKnown = {
    {{Shape::quantity, "io.k8s.apimachinery.pkg.api.resource.Quantity", ""},
     {Shape::int_or_string, "io.k8s.apimachinery.pkg.util.intstr.IntOrString", "int-or-string"},
     {Shape::time, "io.k8s.apimachinery.pkg.apis.meta.v1.Time", "date-time"},
     {Shape::micro_time, "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "date-time"},
     {Shape::duration, "io.k8s.apimachinery.pkg.apis.meta.v1.Duration", ""}}};

const KnownType* known_type(Shape shape) {
  for (const KnownType& known : kKnown) {
    if (known.shape == shape) {
      return &known;
    }
  }
  return nullptr;
}

void append_type(std::string& out, std::string_view type, std::string_view format) {
  append_field(out, kType, wrapped(1, type));
  if (!format.empty()) {
    append_field(out, kFormat, format);
  }
}

std::string gvk_item(std::string_view group, std::string_view version, std::string_view kind) {
  return "- group: \"" + std::string(group) + "\"\n  kind: " + std::string(kind) +
         "\n  version: " + std::string(version) + "\n";
}

}  // namespace

void GnosticSchemas::want(const Node& node) {
  if (!node.type_name.empty() && !written_.contains(node.type_name)) {
    wanted_.emplace(node.type_name, &node);
  }
}

void GnosticSchemas::add_named(std::string_view name, const std::string& schema) {
  std::string named;
  append_field(named, 1, name);
  append_field(named, 2, schema);
  append_field(definitions_, 1, named);
}

void GnosticSchemas::want_custom(const Resource& resource, const ServedVersion& version) {
  custom_ = true;
  std::string schema;
  if (version.schema != nullptr) {
    schema = schema_of(*version.schema, true);
  }
  append_field(schema, kExtension,
               extension("x-kubernetes-group-version-kind",
                         gvk_item(resource.group, version.version, resource.kind)));
  add_named(schema_name(resource, version), schema);
  custom_ = false;
}

std::string GnosticSchemas::take() {
  while (!wanted_.empty()) {
    auto [name, node] = *wanted_.begin();
    wanted_.erase(wanted_.begin());
    written_.emplace(name, node);
    std::string schema = schema_of(*node, true);
    std::string kinds;
    for (const schema::BuiltinKind& kind : schema::builtin_kinds()) {
      kinds += kind.schema == node ? gvk_item(kind.group, kind.version, kind.kind) : "";
    }
    if (!kinds.empty()) {
      append_field(schema, kExtension, extension("x-kubernetes-group-version-kind", kinds));
    }
    add_named(name, schema);
  }
  for (const KnownType& known : kKnown) {
    std::string schema;
    append_type(schema, "string", known.format);
    add_named(known.name, schema);
  }
  return std::move(definitions_);
}

std::string GnosticSchemas::reference(std::string_view name, const Node& node) {
  std::string schema;
  append_field(schema, kRef, "#/definitions/" + std::string(name));
  append_strategy(schema, node);
  return schema;
}

void GnosticSchemas::append_strategy(std::string& out, const Node& node) {
  std::string strategy = node.patch == schema::PatchStrategy::merge     ? "merge"
                         : node.patch == schema::PatchStrategy::replace ? "replace"
                                                                        : "";
  if (node.retain_keys) {
    strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
  }
  if (!node.merge_key.empty()) {
    append_field(out, kExtension,
                 extension("x-kubernetes-patch-merge-key", std::string(node.merge_key) + "\n"));
  }
  if (!strategy.empty()) {
    append_field(out, kExtension, extension("x-kubernetes-patch-strategy", strategy + "\n"));
  }
}

// `named`: the structure itself and not a reference to it.
std::string GnosticSchemas::schema_of(const Node& node, bool named) {
  if (!named && !node.type_name.empty()) {
    want(node);
    return reference(node.type_name, node);
  }
  if (const KnownType* known = known_type(node.shape); known != nullptr && !custom_) {
    return reference(known->name, node);
  }
  std::string schema;
  // Swagger 2 has no words for these: anything goes.
  if (custom_ && (node.nullable || node.preserve_unknown || node.shape == Shape::int_or_string)) {
    return schema;
  }
  switch (node.shape) {
    case Shape::any:
      break;
    case Shape::boolean:
      append_type(schema, "boolean", "");
      break;
    case Shape::integer:
      append_type(schema, "integer", node.bits == 32 ? "int32" : "int64");
      break;
    case Shape::number:
      append_type(schema, "number", "double");
      break;
    case Shape::bytes:
      append_type(schema, "string", "byte");
      break;
    case Shape::list:
      append_type(schema, "array", "");
      append_field(
          schema, kItems,
          wrapped(1, node.items == nullptr ? std::string() : schema_of(*node.items, false)));
      break;
    case Shape::structure:
    case Shape::map:
      append_type(schema, "object", "");
      append_object(schema, node);
      break;
    default:
      append_type(schema, "string", "");
      break;
  }
  append_strategy(schema, node);
  return schema;
}

void GnosticSchemas::append_object(std::string& out, const Node& node) {
  std::string properties;
  for (const schema::Field& field : node.fields) {
    std::string named;
    append_field(named, 1, field.name);
    append_field(named, 2, schema_of(*field.node, false));
    append_field(properties, 1, named);
    if (field.required) {
      append_field(out, kRequired, field.name);
    }
  }
  if (!properties.empty()) {
    append_field(out, kProperties, properties);
  }
  if (node.items != nullptr) {
    append_field(out, kAdditional, wrapped(1, schema_of(*node.items, false)));
  }
}

}  // namespace codeflare::apiserver::openapi
