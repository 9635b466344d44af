#include "apiserver/cel/internal/functions.h"

#include "apiserver/cel/internal/function_table.h"

#include <algorithm>
#include <array>

namespace codeflare::apiserver::cel {
namespace {

std::span<const std::span<const Function>> all_tables() {
  static const std::array<std::span<const Function>, 4> kTables = {
      conversion_functions(), text_functions(), list_functions(), time_functions()};
  return kTables;
}

Result<std::int64_t> calculate_integer(Arithmetic operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (operation) {
    case Arithmetic::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Arithmetic::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Arithmetic::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    default:
      if (b == 0) {
        return fail(invalid_argument(operation == Arithmetic::divide ? "division by zero"
                                                                     : "modulus by zero"));
      }
      overflow = b == -1 && a == INT64_MIN;
      result = overflow ? 0 : operation == Arithmetic::divide ? a / b : a % b;
      break;
  }
  return overflow ? Result<std::int64_t>(fail(invalid_argument("integer overflow"))) : result;
}

Result<std::uint64_t> calculate_unsigned(Arithmetic operation, std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  bool overflow = false;
  switch (operation) {
    case Arithmetic::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Arithmetic::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Arithmetic::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    default:
      if (b == 0) {
        return fail(invalid_argument(operation == Arithmetic::divide ? "division by zero"
                                                                     : "modulus by zero"));
      }
      result = operation == Arithmetic::divide ? a / b : a % b;
      break;
  }
  return overflow ? Result<std::uint64_t>(fail(invalid_argument("unsigned integer overflow")))
                  : result;
}

Result<Value> calculate_real(Arithmetic operation, double a, double b) {
  switch (operation) {
    case Arithmetic::add:
      return Value::real(a + b);
    case Arithmetic::subtract:
      return Value::real(a - b);
    case Arithmetic::multiply:
      return Value::real(a * b);
    case Arithmetic::divide:
      return Value::real(a / b);
    default:
      return fail(no_such_overload());
  }
}

Result<Value> calculate_time(Arithmetic operation, const Value& a, const Value& b) {
  bool add = operation == Arithmetic::add;
  bool subtract = operation == Arithmetic::subtract;
  if (!add && !subtract) {
    return fail(no_such_overload());
  }
  TRY_ASSIGN(std::int64_t count, calculate_integer(operation, a.as_integer(), b.as_integer()));
  if (a.is(Type::duration) && b.is(Type::duration)) {
    return Value::duration(Duration(count));
  }
  if (a.is(Type::timestamp) && b.is(Type::timestamp) && subtract) {
    return Value::duration(Duration(count));
  }
  if ((a.is(Type::timestamp) && b.is(Type::duration)) ||
      (add && a.is(Type::duration) && b.is(Type::timestamp))) {
    return Value::timestamp(WallTime(Duration(count)));
  }
  return fail(no_such_overload());
}

Result<Value> join_values(Context& context, const Value& a, const Value& b) {
  if (a.is(Type::list)) {
    TRY(context.charge(a.size() + b.size()));
    std::vector<Value> items;
    for (const Value* part : {&a, &b}) {
      for (std::size_t i = 0; i < part->size(); ++i) {
        items.push_back(part->item(context.arena, i));
      }
    }
    return Value::list(context.arena, items);
  }
  TRY(context.charge_text(a.as_text().size() + b.as_text().size()));
  std::string joined(a.as_text());
  joined += b.as_text();
  return a.is(Type::text) ? Value::text(context.arena, joined)
                          : Value::bytes(context.arena, joined);
}

}  // namespace

FunctionMatch find_function(std::string_view name, bool method, std::size_t arguments) {
  FunctionMatch match = FunctionMatch::unknown;
  for (std::span<const Function> table : all_tables()) {
    for (const Function& function : table) {
      bool form = method ? function.method : function.global;
      if (function.name != name || !form) {
        continue;
      }
      if (arguments >= function.arguments_min && arguments <= function.arguments_max) {
        return FunctionMatch::known;
      }
      match = FunctionMatch::arity;
    }
  }
  return match;
}

Result<Value> call_function(Context& context, std::string_view name,
                            std::span<const Value> arguments) {
  // One name may serve several types: the first that knows what to do with these.
  for (std::span<const Function> table : all_tables()) {
    for (const Function& function : table) {
      bool fits = function.name == name && arguments.size() >= function.arguments_min &&
                  arguments.size() <= function.arguments_max &&
                  (!function.first || *function.first == arguments[0].type());
      if (fits) {
        return function.call(context, arguments);
      }
    }
  }
  return fail(no_such_overload());
}

Result<Value> calculate(Context& context, Arithmetic operation, const Value& a, const Value& b) {
  if (a.is(Type::integer) && b.is(Type::integer)) {
    TRY_ASSIGN(std::int64_t result, calculate_integer(operation, a.as_integer(), b.as_integer()));
    return Value::integer(result);
  }
  if (a.is(Type::unsigned_integer) && b.is(Type::unsigned_integer)) {
    TRY_ASSIGN(std::uint64_t result,
               calculate_unsigned(operation, a.as_unsigned(), b.as_unsigned()));
    return Value::unsigned_integer(result);
  }
  if (a.is_number() && b.is_number()) {
    return calculate_real(operation, a.to_real(), b.to_real());
  }
  bool joinable = a.is(Type::text) || a.is(Type::bytes) || a.is(Type::list);
  if (operation == Arithmetic::add && joinable && a.type() == b.type()) {
    return join_values(context, a, b);
  }
  return calculate_time(operation, a, b);
}

}  // namespace codeflare::apiserver::cel
