#include "apiserver/cel/internal/value.h"

#include "apiserver/schema/checks.h"
#include "base/base64.h"
#include "base/go_duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>

namespace codeflare::apiserver::cel {
namespace {

template <typename T>
const T* keep(json::Arena& arena, std::span<const T> values) {
  void* memory = arena.allocate(values.size() * sizeof(T), alignof(T));
  T* at = static_cast<T*>(memory);
  std::uninitialized_copy(values.begin(), values.end(), at);
  return at;
}

// Numbers of the object: an integer unless the text or the schema says otherwise.
Value number_of(const json::Value& value, const schema::Node* node) {
  std::string_view text = value.number();
  std::int64_t integer = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), integer);
  bool whole = failed == std::errc() && end == text.data() + text.size();
  bool is_double = node != nullptr && node->shape == schema::Shape::number;
  bool is_integer = node != nullptr && node->shape == schema::Shape::integer;
  if (!whole && is_integer && value.to_int64()) {
    return Value::integer(*value.to_int64());
  }
  return whole && !is_double ? Value::integer(integer) : Value::real(value.to_double().value_or(0));
}

Value text_of(json::Arena& arena, std::string_view text, const schema::Node* node) {
  std::string_view format =
      node == nullptr || node->checks == nullptr ? std::string_view() : node->checks->format;
  if (format == "date-time" || format == "datetime") {
    if (auto time = parse_rfc3339(text)) {
      return Value::timestamp(*time);
    }
  } else if (format == "date") {
    if (auto time = parse_rfc3339(std::string(text) + "T00:00:00Z")) {
      return Value::timestamp(*time);
    }
  } else if (format == "duration") {
    if (auto duration = go_duration(text)) {
      return Value::duration(*duration);
    }
  } else if (format == "byte") {
    if (auto bytes = from_base64(text)) {
      return Value::bytes(arena, *bytes);
    }
  }
  return Value::text(text);
}

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  if (a.is(Type::integer) && b.is(Type::integer)) {
    return a.as_integer() <=> b.as_integer();
  }
  if (a.is(Type::unsigned_integer) && b.is(Type::unsigned_integer)) {
    return a.as_unsigned() <=> b.as_unsigned();
  }
  if (a.is(Type::integer) && b.is(Type::unsigned_integer)) {
    return a.as_integer() < 0 ? std::partial_ordering::less
                              : static_cast<std::uint64_t>(a.as_integer()) <=> b.as_unsigned();
  }
  if (a.is(Type::unsigned_integer) && b.is(Type::integer)) {
    return b.as_integer() < 0 ? std::partial_ordering::greater
                              : a.as_unsigned() <=> static_cast<std::uint64_t>(b.as_integer());
  }
  return a.to_real() <=> b.to_real();
}

}  // namespace

std::string_view type_name(Type type) {
  static constexpr std::array<std::string_view, 14> kNames = {"null_type",
                                                              "bool",
                                                              "int",
                                                              "uint",
                                                              "double",
                                                              "string",
                                                              "bytes",
                                                              "list",
                                                              "map",
                                                              "google.protobuf.Duration",
                                                              "google.protobuf.Timestamp",
                                                              "kubernetes.Quantity",
                                                              "type",
                                                              "optional_type"};
  return kNames[static_cast<std::size_t>(type)];
}

Error no_such_overload(std::string_view what) {
  return invalid_argument(what.empty() ? "no such overload"
                                       : "no such overload: " + std::string(what));
}

Value Value::scalar(Type type, std::int64_t value) {
  Value result;
  result.type_ = type;
  result.integer_ = value;
  return result;
}

Value Value::block(Type type, const void* data, std::size_t size) {
  Value result;
  result.type_ = type;
  result.data_ = data;
  result.size_ = size;
  return result;
}

Value Value::real(double value) {
  Value result;
  result.type_ = Type::real;
  result.real_ = value;
  return result;
}

Value Value::bytes(json::Arena& arena, std::string_view bytes) {
  std::string_view kept = arena.copy(bytes);
  return block(Type::bytes, kept.data(), kept.size());
}

Value Value::list(json::Arena& arena, std::span<const Value> items) {
  return block(Type::list, keep(arena, items), items.size());
}

Value Value::map(json::Arena& arena, std::span<const Value> entries) {
  return block(Type::map, keep(arena, entries), entries.size() / 2);
}

Value Value::quantity(json::Arena& arena, const model::Quantity& value) {
  return block(Type::quantity, keep(arena, std::span(&value, 1)), 1);
}

Value Value::optional(json::Arena& arena, const Value* value) {
  return block(Type::optional, value == nullptr ? nullptr : keep(arena, std::span(value, 1)), 1);
}

Value Value::of_json(json::Arena& arena, const json::Value& value, const schema::Node* node) {
  switch (value.kind()) {
    case json::Kind::null:
      return {};
    case json::Kind::boolean:
      return boolean(value.as_bool());
    case json::Kind::number:
      return number_of(value, node);
    case json::Kind::string:
      return text_of(arena, value.as_string(), node);
    default:
      break;
  }
  Value result = block(value.is_array() ? Type::list : Type::map, &value, value.size());
  result.in_json_ = true;
  result.node_ = node;
  return result;
}

double Value::to_real() const {
  return is(Type::real)               ? real_
         : is(Type::unsigned_integer) ? static_cast<double>(as_unsigned())
                                      : static_cast<double>(integer_);
}

std::size_t Value::size() const {
  return size_;
}

Value Value::item(json::Arena& arena, std::size_t index) const {
  if (in_json_) {
    return of_json(arena, json().items()[index], node_ == nullptr ? nullptr : node_->items);
  }
  return static_cast<const Value*>(data_)[index];
}

Value Value::key(json::Arena& /*arena*/, std::size_t index) const {
  if (in_json_) {
    return text(json().members()[index].key);
  }
  return static_cast<const Value*>(data_)[index * 2];
}

std::optional<Value> Value::find(json::Arena& arena, std::string_view key) const {
  if (in_json_) {
    const json::Value* member = json().find(key);
    if (member == nullptr) {
      return std::nullopt;
    }
    const schema::Field* field = node_ == nullptr ? nullptr : node_->find(key);
    const schema::Node* other = node_ == nullptr ? nullptr : node_->items;
    return of_json(arena, *member, field != nullptr ? field->node : other);
  }
  return find(arena, text(key));
}

std::optional<Value> Value::find(json::Arena& arena, const Value& key) const {
  if (in_json_) {
    return key.is(Type::text) ? find(arena, key.as_text()) : std::nullopt;
  }
  const Value* entries = static_cast<const Value*>(data_);
  for (std::size_t i = 0; i < size_; ++i) {
    auto order = compare(entries[i * 2], key);
    if (order && *order == std::partial_ordering::equivalent) {
      return entries[i * 2 + 1];
    }
  }
  return std::nullopt;
}

json::Value Value::to_json(json::Arena& arena) const {
  switch (type_) {
    case Type::boolean:
      return json::Value::boolean(as_bool());
    case Type::integer:
      return json::Value::integer(arena, integer_);
    case Type::unsigned_integer:
      return json::Value::number_text(arena.copy(std::to_string(as_unsigned())));
    case Type::real:
      return std::isfinite(real_) ? json::Value::real(arena, real_) : json::Value();
    case Type::text:
    case Type::type:
      return json::Value::string(arena, as_text());
    case Type::bytes:
      return json::Value::string(arena, to_base64(as_text()));
    case Type::duration:
      return json::Value::string(arena, codeflare::to_text(as_duration()));
    case Type::timestamp:
      return json::Value::string(arena, to_rfc3339(as_timestamp()));
    case Type::quantity:
      return json::Value::string(arena, as_quantity().to_string());
    case Type::optional:
      return as_optional() == nullptr ? json::Value() : as_optional()->to_json(arena);
    case Type::list: {
      json::Value result = json::Value::array();
      for (std::size_t i = 0; i < size_; ++i) {
        result.push_back(arena, item(arena, i).to_json(arena));
      }
      return result;
    }
    case Type::map: {
      json::Value result = json::Value::object();
      for (std::size_t i = 0; i < size_; ++i) {
        Value name = key(arena, i);
        std::string text =
            name.is(Type::text) ? std::string(name.as_text()) : std::to_string(name.as_integer());
        result.set(arena, text, find(arena, name).value_or(Value()).to_json(arena));
      }
      return result;
    }
    case Type::null:
      break;
  }
  return {};
}

Result<void> Context::charge(std::uint64_t units) {
  cost += units;
  if (cost > cost_max) {
    return fail(too_large("operation cancelled: actual cost limit exceeded"));
  }
  return {};
}

Result<bool> equal(Context& context, const Value& a, const Value& b) {
  TRY(context.charge(1));
  if (a.is_number() && b.is_number()) {
    return compare_numbers(a, b) == std::partial_ordering::equivalent;
  }
  if (a.type() != b.type()) {
    return false;
  }
  switch (a.type()) {
    case Type::null:
      return true;
    case Type::boolean:
      return a.as_bool() == b.as_bool();
    case Type::text:
    case Type::bytes:
    case Type::type: {
      TRY(context.charge_text(std::min(a.as_text().size(), b.as_text().size())));
      return a.as_text() == b.as_text();
    }
    case Type::duration:
    case Type::timestamp:
      return a.as_integer() == b.as_integer();
    case Type::quantity:
      return a.as_quantity() == b.as_quantity();
    case Type::optional:
      if (a.as_optional() == nullptr || b.as_optional() == nullptr) {
        return a.as_optional() == b.as_optional();
      }
      return equal(context, *a.as_optional(), *b.as_optional());
    default:
      break;
  }
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::optional<Value> left;
    std::optional<Value> right;
    if (a.is(Type::list)) {
      left = a.item(context.arena, i);
      right = b.item(context.arena, i);
    } else {
      Value key = a.key(context.arena, i);
      TRY(context.charge(b.size() / 8));  // looked for one by one
      left = a.find(context.arena, key);
      right = b.find(context.arena, key);
    }
    if (!left || !right) {
      return false;
    }
    TRY_ASSIGN(bool same, equal(context, *left, *right));
    if (!same) {
      return false;
    }
  }
  return true;
}

Result<std::partial_ordering> compare(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return compare_numbers(a, b);
  }
  if (a.type() == b.type()) {
    switch (a.type()) {
      case Type::boolean:
      case Type::duration:
      case Type::timestamp:
        return a.as_integer() <=> b.as_integer();
      case Type::text:
      case Type::bytes:
        return a.as_text() <=> b.as_text();
      default:
        break;
    }
  }
  return fail(no_such_overload());
}

}  // namespace codeflare::apiserver::cel
