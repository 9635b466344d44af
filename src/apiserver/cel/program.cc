#include "apiserver/cel/program.h"

#include "apiserver/cel/internal/evaluator.h"
#include "apiserver/cel/internal/parser.h"

#include <algorithm>

namespace codeflare::apiserver {
namespace {

bool names_old_self(const cel::Expression& expression) {
  return (expression.kind == cel::Expression::Kind::name && expression.text == "oldSelf") ||
         std::ranges::any_of(expression.children, [](const cel::ExpressionPtr& child) {
           return names_old_self(*child);
         });
}

}  // namespace

CelProgram::CelProgram(std::string text, std::unique_ptr<cel::Expression> root)
    : text_(std::move(text)), root_(std::move(root)), uses_old_self_(names_old_self(*root_)) {}
CelProgram::CelProgram(CelProgram&&) noexcept = default;
CelProgram& CelProgram::operator=(CelProgram&&) noexcept = default;
CelProgram::~CelProgram() = default;

Result<CelProgram> CelProgram::compile(std::string_view expression) {
  TRY_ASSIGN(cel::ExpressionPtr root, cel::parse_expression(expression));
  return CelProgram(std::string(expression), std::move(root));
}

Result<json::Value> CelProgram::evaluate(json::Arena& arena, const Input& input,
                                         std::uint64_t cost_max, std::uint64_t& cost) const {
  cel::Context context{arena, cost_max};
  cel::Evaluator::Variables variables;
  variables.emplace_back("self", cel::Value::of_json(arena, input.self, input.node));
  if (input.optional_old_self || input.old_self != nullptr) {
    cel::Value old;
    if (input.old_self != nullptr) {
      old = cel::Value::of_json(arena, *input.old_self, input.node);
    }
    variables.emplace_back(
        "oldSelf", input.optional_old_self
                       ? cel::Value::optional(arena, input.old_self == nullptr ? nullptr : &old)
                       : old);
  }
  Result<cel::Value> value = cel::Evaluator(context, std::move(variables)).evaluate(*root_);
  cost = context.cost;
  if (!value) {
    return fail(std::move(value).error());
  }
  return value->to_json(arena);
}

}  // namespace codeflare::apiserver
