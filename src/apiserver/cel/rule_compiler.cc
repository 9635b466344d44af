#include "apiserver/cel/rule_compiler.h"

#include "apiserver/cel/internal/cost.h"
#include "apiserver/cel/internal/declared.h"
#include "apiserver/cel/internal/type_check.h"
#include "apiserver/cel/program.h"
#include "apiserver/schema/field_errors.h"
#include "apiserver/schema/keywords.h"

#include <optional>
#include <string>

namespace codeflare::apiserver {
namespace {

// The cost limit of one expression.
constexpr std::uint64_t kCostMax = 1'000'000;
constexpr std::size_t kMessageMax = 5 * 1024;

std::string trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos
             ? std::string()
             : std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

// The type that messages show instead of the value.
std::string_view shown_type(const schema::Node& node) {
  switch (node.shape) {
    case schema::Shape::structure:
    case schema::Shape::map:
      return "object";
    case schema::Shape::list:
      return "array";
    case schema::Shape::integer:
      return "integer";
    case schema::Shape::number:
      return "number";
    case schema::Shape::boolean:
      return "boolean";
    case schema::Shape::string:
      return "string";
    default:
      return "";
  }
}

class CelRule final : public schema::Rule {
 public:
  CelRule(CelProgram program, std::optional<CelProgram> message_program, const json::Value& rule)
      : program_(std::move(program)),
        message_program_(std::move(message_program)),
        name_(trim(rule.string_or_empty("message"))),
        reason_(rule.string_or_empty("reason")),
        field_path_(rule.string_or_empty("fieldPath")),
        optional_old_self_(schema::keywords::flag_of(rule, "optionalOldSelf")) {
    message_ = name_.empty() ? "failed rule: " + trim(rule.string_or_empty("rule")) : name_;
    name_ = name_.empty() ? trim(rule.string_or_empty("rule")) : name_;
    if (field_path_.starts_with('.')) {
      field_path_.erase(0, 1);
    }
  }

  bool check(const Subject& subject, schema::RuleBudget& budget,
             FieldErrors& errors) const override {
    // Transition rules need something to compare with.
    if (program_.uses_old_self() && subject.old == nullptr && !optional_old_self_) {
      return true;
    }
    const std::string path = subject.path.empty() ? "<nil>" : subject.path;
    const std::string type = quote(shown_type(subject.node));
    json::Arena arena;
    CelProgram::Input input{subject.value, &subject.node, subject.old, optional_old_self_};
    std::uint64_t cost = 0;
    auto value = program_.evaluate(arena, input, kCostMax, cost);
    if (cost > budget.left) {
      errors.invalid(path, type,
                     "validation failed due to running out of cost budget, no further validation "
                     "rules will be run");
      return false;
    }
    budget.left -= cost;
    if (!value) {
      return report_failure(value.error(), path, type, errors);
    }
    bool holds = value->is_boolean() && value->as_bool();
    // A violation from before may stay while its value has not changed.
    if (!holds && (program_.uses_old_self() || !subject.unchanged)) {
      report(arena, input, budget, subject.path, type, errors);
    }
    return true;
  }

 private:
  bool report_failure(const Error& error, const std::string& path, const std::string& type,
                      FieldErrors& errors) const {
    const std::string& what = error.message;
    if (error.code == ErrorCode::too_large) {
      errors.invalid(path, type,
                     "'" + what +
                         "': no further validation rules will be run due to call cost exceeds "
                         "limit for rule: " +
                         name_);
      return false;
    }
    if (what.starts_with("no such overload")) {
      errors.invalid(path, type,
                     "'" + what +
                         "': call arguments did not match a supported operator, function or macro "
                         "signature for rule: " +
                         name_);
    } else {
      errors.invalid(path, type, what + " evaluating rule: " + name_);
    }
    return true;
  }

  void report(json::Arena& arena, const CelProgram::Input& input, schema::RuleBudget& budget,
              const std::string& path, const std::string& type, FieldErrors& errors) const {
    std::string field = field_path_.empty() ? path
                        : path.empty()      ? field_path_
                                            : path + "." + field_path_;
    field = field.empty() ? "<nil>" : field;
    std::string message = message_of(arena, input, budget).value_or(message_);
    if (reason_ == "FieldValueForbidden") {
      errors.forbidden(field, message);
    } else if (reason_ == "FieldValueRequired") {
      errors.required(field, message);
    } else if (reason_ == "FieldValueDuplicate") {
      errors.duplicate(field, type);
    } else {
      errors.invalid(field, type, message);
    }
  }

  // The result of messageExpression; nothing when there is none or it fails.
  std::optional<std::string> message_of(json::Arena& arena, const CelProgram::Input& input,
                                        schema::RuleBudget& budget) const {
    if (!message_program_) {
      return std::nullopt;
    }
    std::uint64_t cost = 0;
    auto value = message_program_->evaluate(arena, input, std::min(kCostMax, budget.left), cost);
    budget.left -= std::min(cost, budget.left);
    if (!value || !value->is_string()) {
      return std::nullopt;
    }
    std::string text = trim(value->as_string());
    bool good = !text.empty() && text.size() <= kMessageMax &&
                text.find_first_of("\r\n") == std::string::npos;
    return good ? std::optional(std::move(text)) : std::nullopt;
  }

  CelProgram program_;
  std::optional<CelProgram> message_program_;
  std::string name_;     // how errors call the rule
  std::string message_;  // when it does not hold
  std::string reason_;
  std::string field_path_;
  bool optional_old_self_;
};

// The required type of one kind of expression, and how its errors begin.
struct Wanted {
  std::string_view type;
  std::string_view context;
  std::string_view complaint;
};

Result<CelProgram> compile_checked(std::string_view text, const json::Value& schema,
                                   const Wanted& wanted) {
  auto program = CelProgram::compile(text);
  if (!program) {
    return fail(std::move(program).error().with_context(wanted.context));
  }
  auto type = cel::check_types(program->root(), program->text(), schema);
  if (!type) {
    return fail(std::move(type).error().with_context(wanted.context));
  }
  if (!type->empty() && *type != wanted.type) {
    return fail(invalid_argument(std::string(wanted.complaint)));
  }
  return program;
}

}  // namespace

Result<schema::RuleCompiler::Compiled> CelRuleCompiler::compile(const json::Value& rule,
                                                                const Site& place) const {
  const json::Value& schema = place.schema;
  TRY_ASSIGN(CelProgram program, compile_checked(rule.string_or_empty("rule"), schema,
                                                 {"boolean", "compilation failed",
                                                  "cel expression must evaluate to a bool"}));
  std::optional<CelProgram> message;
  if (std::string_view text = rule.string_or_empty("messageExpression"); !text.empty()) {
    TRY_ASSIGN(message, compile_checked(text, schema,
                                        {"string", "messageExpression compilation failed",
                                         "messageExpression must evaluate to a string"}));
  }
  const cel::Declared self = cel::declare(schema, place.root);
  Compiled compiled{.rule = {},
                    .uses_old_self = program.uses_old_self(),
                    .cost_max = cel::estimate_cost(program.root(), self),
                    .message_cost_max = message ? cel::estimate_cost(message->root(), self) : 0};
  compiled.rule = std::make_shared<CelRule>(std::move(program), std::move(message), rule);
  return compiled;
}

std::uint64_t CelRuleCompiler::occurrences_max(const Site& place) const {
  return cel::occurrences_max(cel::declare(place.schema, place.root));
}

}  // namespace codeflare::apiserver
