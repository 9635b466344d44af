#include "apiserver/cel/internal/function_table.h"

#include <array>
#include <vector>

namespace codeflare::apiserver::cel {
namespace {

using Arguments = std::span<const Value>;

Result<std::int64_t> position(Context& context, const Value& list, const Value& wanted, bool last) {
  std::int64_t found = -1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY_ASSIGN(bool same, equal(context, list.item(context.arena, i), wanted));
    if (same) {
      found = static_cast<std::int64_t>(i);
      if (!last) {
        break;
      }
    }
  }
  return found;
}

Result<Value> index_of(Context& context, Arguments a) {
  TRY_ASSIGN(std::int64_t at, position(context, a[0], a[1], false));
  return Value::integer(at);
}

Result<Value> last_index_of(Context& context, Arguments a) {
  TRY_ASSIGN(std::int64_t at, position(context, a[0], a[1], true));
  return Value::integer(at);
}

Result<Value> is_sorted(Context& context, Arguments a) {
  for (std::size_t i = 1; i < a[0].size(); ++i) {
    TRY(context.charge(1));
    TRY_ASSIGN(std::partial_ordering order,
               compare(a[0].item(context.arena, i - 1), a[0].item(context.arena, i)));
    if (order == std::partial_ordering::greater) {
      return Value::boolean(false);
    }
  }
  return Value::boolean(true);
}

Result<Value> extreme(Context& context, const Value& list, std::partial_ordering wanted) {
  if (list.size() == 0) {
    return fail(invalid_argument("min/max called on empty list"));
  }
  Value best = list.item(context.arena, 0);
  for (std::size_t i = 1; i < list.size(); ++i) {
    TRY(context.charge(1));
    Value item = list.item(context.arena, i);
    TRY_ASSIGN(std::partial_ordering order, compare(item, best));
    best = order == wanted ? item : best;
  }
  return best;
}

Result<Value> min(Context& context, Arguments a) {
  return extreme(context, a[0], std::partial_ordering::less);
}

Result<Value> max(Context& context, Arguments a) {
  return extreme(context, a[0], std::partial_ordering::greater);
}

Result<Value> sum(Context& context, Arguments a) {
  std::int64_t whole = 0;
  std::int64_t nanoseconds = 0;
  double real = 0;
  bool reals = false;
  bool durations = false;
  for (std::size_t i = 0; i < a[0].size(); ++i) {
    TRY(context.charge(1));
    Value item = a[0].item(context.arena, i);
    bool overflow = false;
    if (item.is(Type::duration)) {
      durations = true;
      overflow = __builtin_add_overflow(nanoseconds, item.as_integer(), &nanoseconds);
    } else if (item.is(Type::integer)) {
      overflow = __builtin_add_overflow(whole, item.as_integer(), &whole);
    } else if (item.is_number()) {
      reals = true;
    } else {
      return fail(no_such_overload());
    }
    if (overflow) {
      return fail(invalid_argument("integer overflow"));
    }
    real += item.is_number() ? item.to_real() : 0;
  }
  return durations ? Value::duration(Duration(nanoseconds))
         : reals   ? Value::real(real)
                   : Value::integer(whole);
}

Result<bool> covers(Context& context, const Value& list, const Value& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    TRY_ASSIGN(std::int64_t at, position(context, list, wanted.item(context.arena, i), false));
    if (at < 0) {
      return false;
    }
  }
  return true;
}

Result<Value> sets_contains(Context& context, Arguments a) {
  if (!a[1].is(Type::list)) {
    return fail(no_such_overload());
  }
  TRY_ASSIGN(bool all, covers(context, a[0], a[1]));
  return Value::boolean(all);
}

Result<Value> sets_equivalent(Context& context, Arguments a) {
  if (!a[1].is(Type::list)) {
    return fail(no_such_overload());
  }
  TRY_ASSIGN(bool left, covers(context, a[0], a[1]));
  TRY_ASSIGN(bool right, covers(context, a[1], a[0]));
  return Value::boolean(left && right);
}

Result<Value> sets_intersects(Context& context, Arguments a) {
  if (!a[1].is(Type::list)) {
    return fail(no_such_overload());
  }
  for (std::size_t i = 0; i < a[1].size(); ++i) {
    TRY_ASSIGN(std::int64_t at, position(context, a[0], a[1].item(context.arena, i), false));
    if (at >= 0) {
      return Value::boolean(true);
    }
  }
  return Value::boolean(false);
}

}  // namespace

std::span<const Function> list_functions() {
  static const std::array<Function, 9> kFunctions = {{
      {.name = "indexOf",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::list,
       .call = index_of},
      {.name = "lastIndexOf",
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::list,
       .call = last_index_of},
      {.name = "isSorted", .first = Type::list, .call = is_sorted},
      {.name = "min", .first = Type::list, .call = min},
      {.name = "max", .first = Type::list, .call = max},
      {.name = "sum", .first = Type::list, .call = sum},
      {.name = "sets.contains",
       .method = false,
       .global = true,
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::list,
       .call = sets_contains},
      {.name = "sets.equivalent",
       .method = false,
       .global = true,
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::list,
       .call = sets_equivalent},
      {.name = "sets.intersects",
       .method = false,
       .global = true,
       .arguments_min = 2,
       .arguments_max = 2,
       .first = Type::list,
       .call = sets_intersects},
  }};
  return kFunctions;
}

}  // namespace codeflare::apiserver::cel
