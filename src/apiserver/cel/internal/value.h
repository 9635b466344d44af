#pragma once

#include "apiserver/schema/schema.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "model/quantity.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace codeflare::apiserver::cel {

enum class Type : std::uint8_t {
  null,
  boolean,
  integer,
  unsigned_integer,
  real,
  text,
  bytes,
  list,
  map,
  duration,
  timestamp,
  quantity,
  type,
  optional
};

std::string_view type_name(Type type);

// A value while an expression runs. Values of the object are read in place; what is computed lies
// in the arena of the evaluation. Trivially copyable.
class Value {
 public:
  Value() = default;  // null
  static Value boolean(bool value) { return scalar(Type::boolean, value ? 1 : 0); }
  static Value integer(std::int64_t value) { return scalar(Type::integer, value); }
  static Value unsigned_integer(std::uint64_t value) {
    return scalar(Type::unsigned_integer, static_cast<std::int64_t>(value));
  }
  static Value real(double value);
  static Value duration(Duration value) { return scalar(Type::duration, value.count()); }
  static Value timestamp(WallTime value) {
    return scalar(Type::timestamp, value.time_since_epoch().count());
  }
  // The text must live as long as the evaluation.
  static Value text(std::string_view text) { return block(Type::text, text.data(), text.size()); }
  static Value text(json::Arena& arena, std::string_view text_in) {
    return text(arena.copy(text_in));
  }
  static Value bytes(json::Arena& arena, std::string_view bytes);
  static Value type_of(std::string_view name) {
    return block(Type::type, name.data(), name.size());
  }
  static Value list(json::Arena& arena, std::span<const Value> items);
  // Keys and values in turn.
  static Value map(json::Arena& arena, std::span<const Value> entries);
  static Value quantity(json::Arena& arena, const model::Quantity& value);
  static Value optional(json::Arena& arena, const Value* value);
  // `node` (or null) tells doubles from integers, and times and durations from text.
  static Value of_json(json::Arena& arena, const json::Value& value, const schema::Node* node);

  Type type() const { return type_; }
  bool is(Type type) const { return type_ == type; }
  bool is_number() const {
    return type_ == Type::integer || type_ == Type::unsigned_integer || type_ == Type::real;
  }

  bool as_bool() const { return integer_ != 0; }
  std::int64_t as_integer() const { return integer_; }
  std::uint64_t as_unsigned() const { return static_cast<std::uint64_t>(integer_); }
  double as_real() const { return real_; }
  double to_real() const;  // of any number
  std::string_view as_text() const {
    return {static_cast<const char*>(data_), size_};
  }  // text, bytes, type
  Duration as_duration() const { return Duration(integer_); }
  WallTime as_timestamp() const { return WallTime(Duration(integer_)); }
  const model::Quantity& as_quantity() const { return *static_cast<const model::Quantity*>(data_); }
  const Value* as_optional() const { return static_cast<const Value*>(data_); }  // null: none

  // Of lists and maps.
  std::size_t size() const;
  Value item(json::Arena& arena, std::size_t index) const;
  Value key(json::Arena& arena, std::size_t index) const;
  // The value under a key, or nothing.
  std::optional<Value> find(json::Arena& arena, const Value& key) const;
  std::optional<Value> find(json::Arena& arena, std::string_view key) const;

  json::Value to_json(json::Arena& arena) const;

 private:
  static Value scalar(Type type, std::int64_t value);
  static Value block(Type type, const void* data, std::size_t size);
  const json::Value& json() const { return *static_cast<const json::Value*>(data_); }

  Type type_ = Type::null;
  bool in_json_ = false;  // list, map: data_ is the JSON value
  union {
    std::int64_t integer_ = 0;
    double real_;
  };
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  const schema::Node* node_ = nullptr;
};

// The memory and cost of an evaluation.
struct Context {
  json::Arena& arena;
  std::uint64_t cost_max;
  std::uint64_t cost = 0;

  Result<void> charge(std::uint64_t units);
  // Looking through that many bytes.
  Result<void> charge_text(std::size_t bytes) { return charge(bytes / 10 + 1); }
};

// `==`: numbers of all types by value, other types differ.
Result<bool> equal(Context& context, const Value& a, const Value& b);
// `<` and the like; "no such overload" for types that have no order among each other.
Result<std::partial_ordering> compare(const Value& a, const Value& b);

Error no_such_overload(std::string_view what = {});

}  // namespace codeflare::apiserver::cel
