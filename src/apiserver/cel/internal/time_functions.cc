#include "apiserver/cel/internal/function_table.h"

#include <array>
#include <chrono>

namespace codeflare::apiserver::cel {
namespace {

using Arguments = std::span<const Value>;
using std::chrono::days;
using std::chrono::floor;

std::chrono::year_month_day date_of(const Value& timestamp) {
  return std::chrono::year_month_day(floor<days>(timestamp.as_timestamp()));
}

std::int64_t part_of_day(const Value& timestamp, Duration unit, std::int64_t modulus) {
  Duration since_midnight = timestamp.as_timestamp() - floor<days>(timestamp.as_timestamp());
  return since_midnight / unit % modulus;
}

Result<Value> year(Context&, Arguments a) {
  return Value::integer(static_cast<int>(date_of(a[0]).year()));
}
Result<Value> month(Context&, Arguments a) {
  return Value::integer(static_cast<unsigned>(date_of(a[0]).month()) - 1);
}
Result<Value> date(Context&, Arguments a) {
  return Value::integer(static_cast<unsigned>(date_of(a[0]).day()));
}
Result<Value> day_of_month(Context&, Arguments a) {
  return Value::integer(static_cast<unsigned>(date_of(a[0]).day()) - 1);
}
Result<Value> day_of_week(Context&, Arguments a) {
  return Value::integer(std::chrono::weekday(floor<days>(a[0].as_timestamp())).c_encoding());
}
Result<Value> hour(Context&, Arguments a) {
  return Value::integer(part_of_day(a[0], std::chrono::hours(1), 24));
}
Result<Value> minute(Context&, Arguments a) {
  return Value::integer(part_of_day(a[0], std::chrono::minutes(1), 60));
}
Result<Value> second(Context&, Arguments a) {
  return Value::integer(part_of_day(a[0], std::chrono::seconds(1), 60));
}

Result<Value> hours(Context&, Arguments a) {
  return Value::integer(a[0].as_duration() / std::chrono::hours(1));
}
Result<Value> minutes(Context&, Arguments a) {
  return Value::integer(a[0].as_duration() / std::chrono::minutes(1));
}
Result<Value> seconds(Context&, Arguments a) {
  return Value::integer(a[0].as_duration() / std::chrono::seconds(1));
}
Result<Value> milliseconds(Context&, Arguments a) {
  return Value::integer(a[0].as_duration() / std::chrono::milliseconds(1));
}

// Quantities.

Result<model::Quantity> read(const Value& value) {
  if (value.is(Type::quantity)) {
    return value.as_quantity();
  }
  if (value.is(Type::integer)) {
    return model::Quantity(value.as_integer());
  }
  return value.is(Type::text) ? model::Quantity::parse(value.as_text())
                              : Result<model::Quantity>(fail(no_such_overload()));
}

Result<Value> quantity(Context& context, Arguments a) {
  if (!a[0].is(Type::text)) {
    return fail(no_such_overload());
  }
  TRY(context.charge_text(a[0].as_text().size()));
  TRY_ASSIGN(model::Quantity value, read(a[0]));
  return Value::quantity(context.arena, value);
}

Result<Value> is_quantity(Context& context, Arguments a) {
  if (!a[0].is(Type::text)) {
    return fail(no_such_overload());
  }
  TRY(context.charge_text(a[0].as_text().size()));
  return Value::boolean(read(a[0]).has_value());
}

Result<Value> is_less(Context&, Arguments a) {
  if (!a[1].is(Type::quantity)) {
    return fail(no_such_overload());
  }
  return Value::boolean(a[0].as_quantity() < a[1].as_quantity());
}

Result<Value> is_greater(Context&, Arguments a) {
  if (!a[1].is(Type::quantity)) {
    return fail(no_such_overload());
  }
  return Value::boolean(a[0].as_quantity() > a[1].as_quantity());
}

Result<Value> compare_to(Context&, Arguments a) {
  if (!a[1].is(Type::quantity)) {
    return fail(no_such_overload());
  }
  auto order = a[0].as_quantity() <=> a[1].as_quantity();
  return Value::integer(order < 0 ? -1 : order > 0 ? 1 : 0);
}

Result<Value> add(Context& context, Arguments a) {
  TRY_ASSIGN(model::Quantity other, read(a[1]));
  return Value::quantity(context.arena, a[0].as_quantity() + other);
}

Result<Value> subtract(Context& context, Arguments a) {
  TRY_ASSIGN(model::Quantity other, read(a[1]));
  return Value::quantity(context.arena, a[0].as_quantity() - other);
}

Result<Value> sign(Context&, Arguments a) {
  return Value::integer(a[0].as_quantity().sign());
}

Result<Value> is_integer(Context&, Arguments a) {
  return Value::boolean(a[0].as_quantity().exact_value().has_value());
}

Result<Value> as_integer(Context&, Arguments a) {
  if (auto value = a[0].as_quantity().exact_value()) {
    return Value::integer(*value);
  }
  return fail(invalid_argument("cannot convert value to integer"));
}

Result<Value> as_float(Context&, Arguments a) {
  return Value::real(static_cast<double>(a[0].as_quantity().milli_value()) / 1000.0);
}

}  // namespace

std::span<const Function> time_functions() {
  static const std::array<Function, 23> kFunctions = {{
      {.name = "getFullYear", .first = Type::timestamp, .call = year},
      {.name = "getMonth", .first = Type::timestamp, .call = month},
      {.name = "getDate", .first = Type::timestamp, .call = date},
      {.name = "getDayOfMonth", .first = Type::timestamp, .call = day_of_month},
      {.name = "getDayOfWeek", .first = Type::timestamp, .call = day_of_week},
      {.name = "getHours", .first = Type::timestamp, .call = hour},
      {.name = "getMinutes", .first = Type::timestamp, .call = minute},
      {.name = "getSeconds", .first = Type::timestamp, .call = second},
      {.name = "getHours", .first = Type::duration, .call = hours},
      {.name = "getMinutes", .first = Type::duration, .call = minutes},
      {.name = "getSeconds", .first = Type::duration, .call = seconds},
      {.name = "getMilliseconds", .first = Type::duration, .call = milliseconds},
      {.name = "quantity", .method = false, .global = true, .call = quantity},
      {.name = "isQuantity", .method = false, .global = true, .call = is_quantity},
      {.name = "isLessThan",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::quantity,
       .call = is_less},
      {.name = "isGreaterThan",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::quantity,
       .call = is_greater},
      {.name = "compareTo",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::quantity,
       .call = compare_to},
      {.name = "add", .arguments_min = 2, .arguments_max = 2, .first = Type::quantity, .call = add},
      {.name = "sub",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::quantity,
       .call = subtract},
      {.name = "sign", .first = Type::quantity, .call = sign},
      {.name = "isInteger", .first = Type::quantity, .call = is_integer},
      {.name = "asInteger", .first = Type::quantity, .call = as_integer},
      {.name = "asApproximateFloat", .first = Type::quantity, .call = as_float},
  }};
  return kFunctions;
}

}  // namespace codeflare::apiserver::cel
