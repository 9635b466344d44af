#pragma once

#include "apiserver/cel/internal/expression.h"
#include "apiserver/cel/internal/value.h"
#include "base/result.h"

#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver::cel {

// Runs one expression. Variables are looked up from the innermost outwards.
class Evaluator {
 public:
  using Variables = std::vector<std::pair<std::string_view, Value>>;
  Evaluator(Context& context, Variables variables)
      : context_(context), variables_(std::move(variables)) {}

  Result<Value> evaluate(const Expression& expression);

 private:
  Result<Value> evaluate_name(const Expression& expression) const;
  Result<Value> evaluate_list(const Expression& expression);
  Result<Value> evaluate_map(const Expression& expression);
  Result<Value> evaluate_select(const Expression& expression);
  Result<Value> evaluate_index(const Expression& expression);
  Result<Value> evaluate_has(const Expression& expression);
  Result<Value> evaluate_call(const Expression& expression);
  Result<Value> evaluate_logic(const Expression& expression);
  Result<Value> evaluate_binary(const Expression& expression);
  Result<Value> evaluate_in(const Value& item, const Value& container);
  Result<Value> evaluate_comprehension(const Expression& expression);
  Result<Value> evaluate_quantifier(const Expression& expression, const Value& range);
  Result<Value> evaluate_collection(const Expression& expression, const Value& range);
  Result<Value> evaluate_with(const Expression& body, std::string_view variable,
                              const Value& value);
  Value element(const Value& range, std::size_t index);

  Context& context_;
  Variables variables_;
};

}  // namespace codeflare::apiserver::cel
