#include "apiserver/schema/builtin_form.h"

#include "base/base64.h"
#include "base/time.h"
#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace codeflare::apiserver::schema {

using json::Member;
using json::Value;

namespace {

std::span<Member> allocate_members(json::Arena& arena, std::size_t count) {
  auto* members = static_cast<Member*>(arena.allocate(count * sizeof(Member), alignof(Member)));
  std::uninitialized_default_construct_n(members, count);
  return {members, count};
}

// Stored as JSON upstream, where an empty list differs from none; all others go through protobuf.
bool keeps_empty_lists(const Node& node) {
  return node.type_name.starts_with("io.k8s.apiextensions-apiserver.") ||
         node.type_name.starts_with("io.k8s.kube-aggregator.");
}

class Former {
 public:
  explicit Former(json::Arena& arena) : arena_(arena) {}

  Value form(const Node& node, const Value& value) {
    switch (node.shape) {
      case Shape::structure:
        return value.is_object() ? structure(node, value) : value;
      case Shape::list:
        return value.is_array() ? list(*node.items, value) : value;
      case Shape::map:
        return value.is_object() ? map(*node.items, value) : value;
      case Shape::any:
        return node.items == nullptr ? value : any(*node.items, value);
      case Shape::quantity:
        return quantity(value);
      case Shape::time:
      case Shape::micro_time:
        return time(value, node.shape == Shape::micro_time);
      case Shape::bytes:
        return bytes(value);
      case Shape::number:
        return number(value);
      case Shape::boolean:
      case Shape::integer:
      case Shape::string:
      case Shape::int_or_string:
      case Shape::duration:
        break;
    }
    return value;
  }

 private:
  Value structure(const Node& node, const Value& object) {
    // Positions of the members by field; the tables have no structure with more fields than this.
    std::array<const Value*, 64> found{};
    CHECK(node.fields.size() <= found.size());
    for (const Member& member : object.members()) {
      if (const Field* field = node.find(member.key); field != nullptr) {
        found[static_cast<std::size_t>(field - node.fields.data())] = &member.value;
      }
    }
    std::array<Member, 64> members;
    std::size_t count = 0;
    for (std::size_t at = 0; at < node.fields.size(); ++at) {
      const Field& field = node.fields[at];
      if (auto value = this->field(node, field, found[at])) {
        members[count++] = {field.name, *value};
      }
    }
    std::span<Member> kept = allocate_members(arena_, count);
    std::ranges::copy(std::span(members).first(count), kept.begin());
    return Value::object_of(kept);
  }

  // Nothing when JSON leaves the field out.
  std::optional<Value> field(const Node& owner, const Field& field, const Value* given) {
    const bool set = given != nullptr && !given->is_null();
    if (!set && field.wire.omit_empty) {
      return std::nullopt;
    }
    if (!set) {
      return field.wire.pointer ? Value() : zero_form(*field.node, arena_);
    }
    Value value = form(*field.node, *given);
    const bool empty_list = (value.is_array() || value.is_object()) && value.size() == 0 &&
                            (field.node->shape == Shape::list || field.node->shape == Shape::map) &&
                            field.node->encoding == Encoding::plain;
    if (field.wire.omit_empty && !field.wire.pointer && (empty_list || is_empty_form(value))) {
      return std::nullopt;
    }
    if (empty_list && !keeps_empty_lists(owner)) {
      return Value();
    }
    return value;
  }

  Value list(const Node& items, const Value& value) {
    const std::size_t count = value.size();
    auto* elements = static_cast<Value*>(arena_.allocate(count * sizeof(Value), alignof(Value)));
    std::ranges::transform(value.items(), elements, [&](const Value& element) {
      return element.is_null() ? zero_form(items, arena_) : form(items, element);
    });
    return Value::array_of({elements, count});
  }

  Value map(const Node& items, const Value& value) {
    std::span<Member> members = allocate_members(arena_, value.size());
    std::ranges::transform(value.members(), members.begin(), [&](const Member& member) {
      return Member{member.key, member.value.is_null() ? zero_entry_form(items, arena_)
                                                       : form(items, member.value)};
    });
    std::ranges::sort(members, {}, &Member::key);
    return Value::object_of(members);
  }

  // A schema, a list of schemas or of names, or a boolean.
  Value any(const Node& items, const Value& value) {
    if (value.is_object()) {
      return form(items, value);
    }
    return value.is_array() ? list(items, value) : value;
  }

  Value quantity(const Value& value) {
    if (!value.is_string() && !value.is_number()) {
      return value;
    }
    const std::string_view text = value.is_string() ? value.as_string() : value.number();
    auto parsed = model::Quantity::parse(text);
    return parsed ? Value::string(arena_, parsed->to_string()) : value;
  }

  Value time(const Value& value, bool micro) {
    if (!value.is_string()) {
      return value;
    }
    // Go's zero time, as other languages' clients send it.
    if (value.as_string() == "0001-01-01T00:00:00Z") {
      return {};
    }
    auto parsed = parse_rfc3339(value.as_string());
    return parsed ? Value::string(arena_, to_rfc3339(*parsed, micro ? 6 : 0)) : value;
  }

  Value bytes(const Value& value) {
    if (!value.is_string() || value.as_string().find_first_of("\r\n") == std::string_view::npos) {
      return value;
    }
    auto decoded = from_base64(value.as_string());
    return decoded ? Value::string(arena_, to_base64(*decoded)) : value;
  }

  Value number(const Value& value) {
    auto parsed = value.to_double();
    return parsed ? Value::real(arena_, *parsed) : value;
  }

  json::Arena& arena_;
};

}  // namespace

bool is_empty_form(const Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return true;
    case json::Kind::boolean:
      return !value.as_bool();
    case json::Kind::number:
      return value.number() == "0" || value.number() == "-0";
    case json::Kind::string:
      return value.as_string().empty();
    case json::Kind::array:
    case json::Kind::object:
      break;
  }
  return false;
}

Value zero_form(const Node& node, json::Arena& arena) {
  switch (node.shape) {
    case Shape::boolean:
      return Value::boolean(false);
    case Shape::integer:
    case Shape::number:
    case Shape::int_or_string:
      return Value::number_text("0");
    case Shape::string:
      return Value::string_view_of("");
    case Shape::quantity:
      return Value::string_view_of("0");
    case Shape::duration:
      return Value::string_view_of("0s");
    case Shape::any:
      return node.encoding == Encoding::schema_or_boolean ? Value::boolean(false) : Value();
    case Shape::structure: {
      auto shown = [](const Field& field) { return !field.wire.omit_empty; };
      const auto count = static_cast<std::size_t>(std::ranges::count_if(node.fields, shown));
      std::span<Member> members = allocate_members(arena, count);
      std::size_t next = 0;
      for (const Field& field : node.fields) {
        if (shown(field)) {
          members[next++] = {field.name,
                             field.wire.pointer ? Value() : zero_form(*field.node, arena)};
        }
      }
      return Value::object_of(members);
    }
    case Shape::time:
    case Shape::micro_time:
    case Shape::bytes:
    case Shape::map:
    case Shape::list:
      break;
  }
  return {};
}

Value zero_entry_form(const Node& node, json::Arena& arena) {
  switch (node.shape) {
    case Shape::bytes:
      return Value::string_view_of("");
    case Shape::list:
      return Value::array();
    default:
      return zero_form(node, arena);
  }
}

Value builtin_form(const Node& kind, const Value& object, json::Arena& arena) {
  Value formed = Former(arena).form(kind, object);
  // People read texts from the front.
  std::size_t first = 0;
  for (std::string_view name : {"apiVersion", "kind"}) {
    auto rest = formed.members().subspan(first);
    auto found = std::ranges::find(rest, name, &Member::key);
    if (found != rest.end()) {
      std::rotate(rest.begin(), found, found + 1);
      ++first;
    }
  }
  return formed;
}

}  // namespace codeflare::apiserver::schema
