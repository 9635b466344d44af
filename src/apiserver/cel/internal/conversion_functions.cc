#include "apiserver/cel/internal/function_table.h"
#include "apiserver/schema/field_errors.h"
#include "base/go_duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace codeflare::apiserver::cel {
namespace {

using Arguments = std::span<const Value>;

template <typename T>
std::optional<T> read_number(std::string_view text) {
  T value{};
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                   : std::nullopt;
}

std::size_t count_runes(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Result<Value> size(Context& context, Arguments a) {
  if (a[0].is(Type::text)) {
    TRY(context.charge_text(a[0].as_text().size()));
    return Value::integer(static_cast<std::int64_t>(count_runes(a[0].as_text())));
  }
  if (a[0].is(Type::bytes)) {
    return Value::integer(static_cast<std::int64_t>(a[0].as_text().size()));
  }
  if (a[0].is(Type::list) || a[0].is(Type::map)) {
    return Value::integer(static_cast<std::int64_t>(a[0].size()));
  }
  return fail(no_such_overload());
}

Result<Value> to_int(Context&, Arguments a) {
  constexpr double kLimit = 9223372036854775808.0;
  switch (a[0].type()) {
    case Type::integer:
      return a[0];
    case Type::unsigned_integer:
      if (a[0].as_unsigned() > INT64_MAX) {
        return fail(invalid_argument("integer overflow"));
      }
      return Value::integer(static_cast<std::int64_t>(a[0].as_unsigned()));
    case Type::real:
      if (!(a[0].as_real() > -kLimit && a[0].as_real() < kLimit)) {
        return fail(invalid_argument("integer overflow"));
      }
      return Value::integer(static_cast<std::int64_t>(a[0].as_real()));
    case Type::text:
      if (auto value = read_number<std::int64_t>(a[0].as_text())) {
        return Value::integer(*value);
      }
      return fail(invalid_argument("type conversion error from 'string' to 'int'"));
    case Type::timestamp:
      return Value::integer(
          std::chrono::floor<std::chrono::seconds>(a[0].as_timestamp()).time_since_epoch().count());
    case Type::duration:
      return Value::integer(a[0].as_integer());
    default:
      return fail(no_such_overload());
  }
}

Result<Value> to_uint(Context&, Arguments a) {
  constexpr double kLimit = 18446744073709551616.0;
  switch (a[0].type()) {
    case Type::unsigned_integer:
      return a[0];
    case Type::integer:
      if (a[0].as_integer() < 0) {
        return fail(invalid_argument("unsigned integer overflow"));
      }
      return Value::unsigned_integer(static_cast<std::uint64_t>(a[0].as_integer()));
    case Type::real:
      if (!(a[0].as_real() >= 0 && a[0].as_real() < kLimit)) {
        return fail(invalid_argument("unsigned integer overflow"));
      }
      return Value::unsigned_integer(static_cast<std::uint64_t>(a[0].as_real()));
    case Type::text:
      if (auto value = read_number<std::uint64_t>(a[0].as_text())) {
        return Value::unsigned_integer(*value);
      }
      return fail(invalid_argument("type conversion error from 'string' to 'uint'"));
    default:
      return fail(no_such_overload());
  }
}

Result<Value> to_double(Context&, Arguments a) {
  if (a[0].is_number()) {
    return Value::real(a[0].to_real());
  }
  if (a[0].is(Type::text)) {
    if (auto value = read_number<double>(a[0].as_text())) {
      return Value::real(*value);
    }
    return fail(invalid_argument("type conversion error from 'string' to 'double'"));
  }
  return fail(no_such_overload());
}

Result<Value> to_string(Context& context, Arguments a) {
  switch (a[0].type()) {
    case Type::text:
      return a[0];
    case Type::bytes:
      return Value::text(a[0].as_text());
    case Type::boolean:
      return Value::text(a[0].as_bool() ? "true" : "false");
    case Type::list:
    case Type::map:
    case Type::null:
    case Type::optional:
    case Type::type:
      return fail(no_such_overload());
    default: {
      json::Value value = a[0].to_json(context.arena);
      return Value::text(value.is_number()   ? value.number()
                         : value.is_string() ? value.as_string()
                                             : std::string_view("NaN"));
    }
  }
}

Result<Value> to_bytes(Context& context, Arguments a) {
  return a[0].is(Type::text) || a[0].is(Type::bytes) ? Value::bytes(context.arena, a[0].as_text())
                                                     : Result<Value>(fail(no_such_overload()));
}

Result<Value> to_bool(Context&, Arguments a) {
  if (a[0].is(Type::boolean)) {
    return a[0];
  }
  if (a[0].is(Type::text)) {
    std::string_view text = a[0].as_text();
    for (std::string_view yes : {"true", "True", "TRUE", "t", "1"}) {
      if (text == yes) {
        return Value::boolean(true);
      }
    }
    for (std::string_view no : {"false", "False", "FALSE", "f", "0"}) {
      if (text == no) {
        return Value::boolean(false);
      }
    }
    return fail(invalid_argument("type conversion error from 'string' to 'bool'"));
  }
  return fail(no_such_overload());
}

Result<Value> same(Context&, Arguments a) {
  return a[0];
}

Result<Value> type_of(Context&, Arguments a) {
  return Value::type_of(type_name(a[0].type()));
}

Result<Value> to_duration(Context&, Arguments a) {
  if (a[0].is(Type::duration)) {
    return a[0];
  }
  if (a[0].is(Type::text)) {
    if (auto duration = go_duration(a[0].as_text())) {
      return Value::duration(*duration);
    }
    return fail(invalid_argument("time: invalid duration " + quote(a[0].as_text())));
  }
  return fail(no_such_overload());
}

Result<Value> to_timestamp(Context&, Arguments a) {
  if (a[0].is(Type::timestamp)) {
    return a[0];
  }
  if (a[0].is(Type::text)) {
    if (auto time = parse_rfc3339(a[0].as_text())) {
      return Value::timestamp(*time);
    }
    return fail(invalid_argument("parsing time " + quote(a[0].as_text()) +
                                 " as \"2006-01-02T15:04:05Z07:00\": cannot parse"));
  }
  constexpr std::int64_t kSecondsMax = INT64_MAX / 1'000'000'000;
  if (a[0].is(Type::integer) && a[0].as_integer() < kSecondsMax &&
      a[0].as_integer() > -kSecondsMax) {
    return Value::timestamp(WallTime(std::chrono::seconds(a[0].as_integer())));
  }
  return fail(no_such_overload());
}

Result<Value> optional_of(Context& context, Arguments a) {
  return Value::optional(context.arena, a.data());
}

Result<Value> optional_none(Context& context, Arguments) {
  return Value::optional(context.arena, nullptr);
}

Result<Value> optional_of_non_zero(Context& context, Arguments a) {
  const Value& v = a[0];
  bool zero = v.is(Type::null) ||
              ((v.is(Type::boolean) || v.is(Type::integer) || v.is(Type::unsigned_integer) ||
                v.is(Type::duration)) &&
               v.as_integer() == 0) ||
              (v.is(Type::real) && v.as_real() == 0) ||
              ((v.is(Type::text) || v.is(Type::bytes)) && v.as_text().empty()) ||
              ((v.is(Type::list) || v.is(Type::map)) && v.size() == 0);
  return Value::optional(context.arena, zero ? nullptr : &v);
}

Result<Value> has_value(Context&, Arguments a) {
  return Value::boolean(a[0].as_optional() != nullptr);
}

Result<Value> value_of(Context&, Arguments a) {
  return a[0].as_optional() != nullptr
             ? *a[0].as_optional()
             : Result<Value>(fail(invalid_argument("optional.none() dereference")));
}

Result<Value> or_value(Context&, Arguments a) {
  return a[0].as_optional() != nullptr ? *a[0].as_optional() : a[1];
}

Result<Value> or_optional(Context&, Arguments a) {
  return a[0].as_optional() != nullptr ? a[0] : a[1];
}

}  // namespace

std::span<const Function> conversion_functions() {
  static const std::array<Function, 18> kFunctions = {{
      {.name = "size", .global = true, .call = size},
      {.name = "int", .method = false, .global = true, .call = to_int},
      {.name = "uint", .method = false, .global = true, .call = to_uint},
      {.name = "double", .method = false, .global = true, .call = to_double},
      {.name = "string", .method = false, .global = true, .call = to_string},
      {.name = "bytes", .method = false, .global = true, .call = to_bytes},
      {.name = "bool", .method = false, .global = true, .call = to_bool},
      {.name = "dyn", .method = false, .global = true, .call = same},
      {.name = "type", .method = false, .global = true, .call = type_of},
      {.name = "duration", .method = false, .global = true, .call = to_duration},
      {.name = "timestamp", .method = false, .global = true, .call = to_timestamp},
      {.name = "optional.of", .method = false, .global = true, .call = optional_of},
      {.name = "optional.none",
       .method = false,
       .global = true,
       .arguments_min = 0,
       .arguments_max = 0,
       .call = optional_none},
      {.name = "optional.ofNonZeroValue",
       .method = false,
       .global = true,
       .call = optional_of_non_zero},
      {.name = "hasValue", .first = Type::optional, .call = has_value},
      {.name = "value", .first = Type::optional, .call = value_of},
      {.name = "orValue",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::optional,
       .call = or_value},
      {.name = "or",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::optional,
       .call = or_optional},
  }};
  return kFunctions;
}

}  // namespace codeflare::apiserver::cel
