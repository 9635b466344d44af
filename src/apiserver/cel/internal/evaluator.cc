#include "apiserver/cel/internal/evaluator.h"

#include "apiserver/cel/internal/functions.h"

#include <algorithm>
#include <optional>

namespace codeflare::apiserver::cel {
namespace {

using Kind = Expression::Kind;
using Operation = Expression::Operation;
using Macro = Expression::Macro;

bool is_cancelled(const Error& error) {
  return error.code == ErrorCode::too_large;
}

Result<bool> expect_bool(const Value& value) {
  return value.is(Type::boolean) ? Result<bool>(value.as_bool())
                                 : Result<bool>(fail(no_such_overload()));
}

bool holds(Operation operation, std::partial_ordering order) {
  switch (operation) {
    case Operation::less:
      return order < 0;
    case Operation::at_most:
      return order <= 0;
    case Operation::more:
      return order > 0;
    default:
      return order >= 0;
  }
}

}  // namespace

Result<Value> Evaluator::evaluate(const Expression& expression) {
  TRY(context_.charge(1));
  switch (expression.kind) {
    case Kind::null:
      return Value();
    case Kind::boolean:
      return Value::boolean(expression.integer != 0);
    case Kind::integer:
      return Value::integer(expression.integer);
    case Kind::unsigned_integer:
      return Value::unsigned_integer(static_cast<std::uint64_t>(expression.integer));
    case Kind::real:
      return Value::real(expression.real);
    case Kind::text:
      return Value::text(expression.text);
    case Kind::bytes:
      return Value::bytes(context_.arena, expression.text);
    case Kind::name:
      return evaluate_name(expression);
    case Kind::type_name:
      return Value::type_of(expression.text);
    case Kind::list:
      return evaluate_list(expression);
    case Kind::map:
      return evaluate_map(expression);
    case Kind::select:
      return evaluate_select(expression);
    case Kind::index:
      return evaluate_index(expression);
    case Kind::has:
      return evaluate_has(expression);
    case Kind::call:
      return evaluate_call(expression);
    case Kind::negate: {
      TRY_ASSIGN(Value operand, evaluate(*expression.children[0]));
      if (operand.is(Type::real)) {
        return Value::real(-operand.as_real());
      }
      if (operand.is(Type::duration)) {
        return calculate(context_, Arithmetic::subtract, Value::duration(Duration(0)), operand);
      }
      return operand.is(Type::integer)
                 ? calculate(context_, Arithmetic::subtract, Value::integer(0), operand)
                 : Result<Value>(fail(no_such_overload()));
    }
    case Kind::negation: {
      TRY_ASSIGN(Value operand, evaluate(*expression.children[0]));
      TRY_ASSIGN(bool value, expect_bool(operand));
      return Value::boolean(!value);
    }
    case Kind::both:
    case Kind::either:
      return evaluate_logic(expression);
    case Kind::condition: {
      TRY_ASSIGN(Value condition, evaluate(*expression.children[0]));
      TRY_ASSIGN(bool value, expect_bool(condition));
      return evaluate(*expression.children[value ? 1 : 2]);
    }
    case Kind::binary:
      return evaluate_binary(expression);
    case Kind::comprehension:
      return evaluate_comprehension(expression);
  }
  return fail(internal_error("unknown expression"));
}

Result<Value> Evaluator::evaluate_name(const Expression& expression) const {
  for (auto at = variables_.rbegin(); at != variables_.rend(); ++at) {
    if (at->first == expression.text) {
      return at->second;
    }
  }
  return fail(invalid_argument("no such attribute: " + expression.text));
}

Result<Value> Evaluator::evaluate_list(const Expression& expression) {
  std::vector<Value> items;
  for (const ExpressionPtr& child : expression.children) {
    TRY_ASSIGN(Value item, evaluate(*child));
    items.push_back(item);
  }
  return Value::list(context_.arena, items);
}

Result<Value> Evaluator::evaluate_map(const Expression& expression) {
  std::vector<Value> entries;
  for (const ExpressionPtr& child : expression.children) {
    TRY_ASSIGN(Value value, evaluate(*child));
    entries.push_back(value);
  }
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    bool key = entries[i].is(Type::text) || entries[i].is(Type::integer) ||
               entries[i].is(Type::unsigned_integer) || entries[i].is(Type::boolean);
    if (!key) {
      return fail(
          invalid_argument("unsupported key type: " + std::string(type_name(entries[i].type()))));
    }
    for (std::size_t j = 0; j < i; j += 2) {
      TRY_ASSIGN(bool same, equal(context_, entries[i], entries[j]));
      if (same) {
        return fail(invalid_argument("repeated key"));
      }
    }
  }
  return Value::map(context_.arena, entries);
}

Result<Value> Evaluator::evaluate_select(const Expression& expression) {
  TRY_ASSIGN(Value operand, evaluate(*expression.children[0]));
  bool optional = expression.optional;
  if (operand.is(Type::optional)) {
    if (operand.as_optional() == nullptr) {
      return operand;
    }
    optional = true;
    operand = *operand.as_optional();
  }
  if (!operand.is(Type::map)) {
    return fail(no_such_overload());
  }
  std::optional<Value> found = operand.find(context_.arena, expression.text);
  if (optional) {
    return Value::optional(context_.arena, found ? &*found : nullptr);
  }
  return found ? *found : Result<Value>(fail(invalid_argument("no such key: " + expression.text)));
}

Result<Value> Evaluator::evaluate_index(const Expression& expression) {
  TRY_ASSIGN(Value operand, evaluate(*expression.children[0]));
  TRY_ASSIGN(Value index, evaluate(*expression.children[1]));
  bool optional = expression.optional;
  if (operand.is(Type::optional)) {
    if (operand.as_optional() == nullptr) {
      return operand;
    }
    optional = true;
    operand = *operand.as_optional();
  }
  std::optional<Value> found;
  std::string missing = "no such key";
  if (operand.is(Type::list) && index.is_number()) {
    double at = index.to_real();
    missing =
        "index out of bounds: " +
        std::to_string(index.is(Type::integer) ? index.as_integer() : static_cast<std::int64_t>(0));
    if (at >= 0 && at < static_cast<double>(operand.size())) {
      found = operand.item(context_.arena, static_cast<std::size_t>(at));
    }
  } else if (operand.is(Type::map)) {
    found = operand.find(context_.arena, index);
    missing = index.is(Type::text) ? "no such key: " + std::string(index.as_text()) : missing;
  } else {
    return fail(no_such_overload());
  }
  if (optional) {
    return Value::optional(context_.arena, found ? &*found : nullptr);
  }
  return found ? *found : Result<Value>(fail(invalid_argument(missing)));
}

Result<Value> Evaluator::evaluate_has(const Expression& expression) {
  TRY_ASSIGN(Value operand, evaluate(*expression.children[0]));
  if (operand.is(Type::optional)) {
    if (operand.as_optional() == nullptr) {
      return Value::boolean(false);
    }
    operand = *operand.as_optional();
  }
  if (!operand.is(Type::map)) {
    return fail(no_such_overload());
  }
  return Value::boolean(operand.find(context_.arena, expression.text).has_value());
}

Result<Value> Evaluator::evaluate_call(const Expression& expression) {
  std::vector<Value> arguments;
  for (const ExpressionPtr& child : expression.children) {
    TRY_ASSIGN(Value argument, evaluate(*child));
    arguments.push_back(argument);
  }
  if (expression.pattern != nullptr) {
    if (!arguments[0].is(Type::text)) {
      return fail(no_such_overload());
    }
    TRY(context_.charge((arguments[0].as_text().size() / 10 + 1) *
                        (expression.pattern->text().size() / 4 + 1)));
    return Value::boolean(expression.pattern->matches(arguments[0].as_text()));
  }
  return call_function(context_, expression.text, arguments);
}

// An operand that decides makes up for errors in the others.
Result<Value> Evaluator::evaluate_logic(const Expression& expression) {
  bool decisive = expression.kind == Kind::either;
  std::optional<Error> failed;
  for (const ExpressionPtr& child : expression.children) {
    Result<Value> operand = evaluate(*child);
    if (operand && operand->is(Type::boolean)) {
      if (operand->as_bool() == decisive) {
        return operand;
      }
    } else if (!operand && is_cancelled(operand.error())) {
      return operand;
    } else if (!failed) {
      failed = operand ? no_such_overload() : operand.error();
    }
  }
  return failed ? Result<Value>(fail(*std::move(failed))) : Value::boolean(!decisive);
}

Result<Value> Evaluator::evaluate_binary(const Expression& expression) {
  TRY_ASSIGN(Value left, evaluate(*expression.children[0]));
  TRY_ASSIGN(Value right, evaluate(*expression.children[1]));
  switch (expression.operation) {
    case Operation::equal:
    case Operation::unequal: {
      TRY_ASSIGN(bool same, equal(context_, left, right));
      return Value::boolean(same == (expression.operation == Operation::equal));
    }
    case Operation::in:
      return evaluate_in(left, right);
    case Operation::add:
      return calculate(context_, Arithmetic::add, left, right);
    case Operation::subtract:
      return calculate(context_, Arithmetic::subtract, left, right);
    case Operation::multiply:
      return calculate(context_, Arithmetic::multiply, left, right);
    case Operation::divide:
      return calculate(context_, Arithmetic::divide, left, right);
    case Operation::remainder:
      return calculate(context_, Arithmetic::remainder, left, right);
    default: {
      TRY_ASSIGN(std::partial_ordering order, compare(left, right));
      return Value::boolean(holds(expression.operation, order));
    }
  }
}

Result<Value> Evaluator::evaluate_in(const Value& item, const Value& container) {
  if (container.is(Type::map)) {
    TRY(context_.charge(container.size() / 8 + 1));
    return Value::boolean(container.find(context_.arena, item).has_value());
  }
  if (!container.is(Type::list)) {
    return fail(no_such_overload());
  }
  for (std::size_t i = 0; i < container.size(); ++i) {
    TRY_ASSIGN(bool same, equal(context_, item, container.item(context_.arena, i)));
    if (same) {
      return Value::boolean(true);
    }
  }
  return Value::boolean(false);
}

Value Evaluator::element(const Value& range, std::size_t index) {
  return range.is(Type::list) ? range.item(context_.arena, index)
                              : range.key(context_.arena, index);
}

Result<Value> Evaluator::evaluate_with(const Expression& body, std::string_view variable,
                                       const Value& value) {
  variables_.emplace_back(variable, value);
  Result<Value> result = evaluate(body);
  variables_.pop_back();
  return result;
}

Result<Value> Evaluator::evaluate_comprehension(const Expression& expression) {
  TRY_ASSIGN(Value range, evaluate(*expression.children[0]));
  if (expression.macro == Macro::opt_map) {
    if (!range.is(Type::optional)) {
      return fail(no_such_overload());
    }
    if (range.as_optional() == nullptr) {
      return range;
    }
    TRY_ASSIGN(Value mapped,
               evaluate_with(*expression.children[1], expression.text, *range.as_optional()));
    return Value::optional(context_.arena, &mapped);
  }
  if (!range.is(Type::list) && !range.is(Type::map)) {
    return fail(no_such_overload());
  }
  bool collects = expression.macro == Macro::map || expression.macro == Macro::filter;
  return collects ? evaluate_collection(expression, range) : evaluate_quantifier(expression, range);
}

Result<Value> Evaluator::evaluate_quantifier(const Expression& expression, const Value& range) {
  std::optional<Error> failed;
  std::size_t hits = 0;
  for (std::size_t i = 0; i < range.size(); ++i) {
    Result<Value> verdict =
        evaluate_with(*expression.children[1], expression.text, element(range, i));
    if (verdict && !verdict->is(Type::boolean)) {
      verdict = fail(no_such_overload());
    }
    if (!verdict) {
      if (is_cancelled(verdict.error()) || expression.macro == Macro::exists_one) {
        return verdict;
      }
      failed = failed ? failed : verdict.error();
    } else if (expression.macro == Macro::all && !verdict->as_bool()) {
      return verdict;
    } else if (expression.macro == Macro::exists && verdict->as_bool()) {
      return verdict;
    } else {
      hits += verdict->as_bool() ? 1 : 0;
    }
  }
  if (failed) {
    return fail(*std::move(failed));
  }
  return Value::boolean(expression.macro == Macro::all ||
                        (expression.macro == Macro::exists_one && hits == 1));
}

Result<Value> Evaluator::evaluate_collection(const Expression& expression, const Value& range) {
  std::vector<Value> items;
  bool filters = expression.macro == Macro::filter || expression.children.size() == 3;
  for (std::size_t i = 0; i < range.size(); ++i) {
    Value item = element(range, i);
    if (filters) {
      TRY_ASSIGN(Value verdict, evaluate_with(*expression.children[1], expression.text, item));
      TRY_ASSIGN(bool keep, expect_bool(verdict));
      if (!keep) {
        continue;
      }
    }
    if (expression.macro == Macro::map) {
      TRY_ASSIGN(item, evaluate_with(*expression.children.back(), expression.text, item));
    }
    items.push_back(item);
  }
  return Value::list(context_.arena, items);
}

}  // namespace codeflare::apiserver::cel
