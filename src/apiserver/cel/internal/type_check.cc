#include "apiserver/cel/internal/type_check.h"

#include "apiserver/cel/internal/lexer.h"
#include "apiserver/schema/keywords.h"

#include <utility>
#include <vector>

namespace codeflare::apiserver::cel {
namespace {

using Kind = Expression::Kind;
using schema::keywords::flag_of;
using schema::keywords::object_of;
using schema::keywords::text_of;

// Knowledge about a value: a schema, at least a type, or nothing.
struct Known {
  const json::Value* schema = nullptr;
  std::string_view type{};
};

Known of_schema(const json::Value* schema) {
  return {schema, schema == nullptr ? std::string_view() : text_of(*schema, "type")};
}

class TypeChecker {
 public:
  TypeChecker(std::string_view source, const json::Value& schema)
      : source_(source), scope_{{"self", of_schema(&schema)}} {}

  Result<Known> check(const Expression& expression) {
    switch (expression.kind) {
      case Kind::boolean:
      case Kind::negation:
      case Kind::both:
      case Kind::either:
        return after_children(expression, "boolean");
      case Kind::has:
        return check_field(expression, Known{.type = "boolean"});
      case Kind::integer:
      case Kind::unsigned_integer:
        return Known{.type = "integer"};
      case Kind::real:
        return Known{.type = "number"};
      case Kind::text:
        return Known{.type = "string"};
      case Kind::name:
        return find(expression.text);
      case Kind::select:
        return check_select(expression);
      case Kind::index:
        return check_index(expression);
      case Kind::list:
        return after_children(expression, "array");
      case Kind::map:
        return after_children(expression, "object");
      case Kind::condition:
        return check_condition(expression);
      case Kind::binary:
        return check_binary(expression);
      case Kind::comprehension:
        return check_comprehension(expression);
      default:
        return after_children(expression, {});
    }
  }

 private:
  Result<Known> after_children(const Expression& expression, std::string_view type) {
    for (const ExpressionPtr& child : expression.children) {
      TRY(check(*child));
    }
    return Known{.type = type};
  }

  Result<Known> check_select(const Expression& expression) {
    TRY_ASSIGN(Known field, check_field(expression, {}));
    return expression.optional ? Known{} : field;
  }

  Result<Known> check_condition(const Expression& expression) {
    TRY(check(*expression.children[0]));
    TRY_ASSIGN(Known yes, check(*expression.children[1]));
    TRY(check(*expression.children[2]));
    return yes;
  }

  Known find(std::string_view name) const {
    for (auto at = scope_.rbegin(); at != scope_.rend(); ++at) {
      if (at->first == name) {
        return at->second;
      }
    }
    // oldSelf looks like self, unless it is optional.
    return {};
  }

  // The field of a select or has; `result` instead of what it is, when that has a type.
  Result<Known> check_field(const Expression& expression, Known result) {
    TRY_ASSIGN(Known base, check(*expression.children[0]));
    Known field;
    if (base.schema != nullptr && base.type == "object") {
      const json::Value* properties = object_of(*base.schema, "properties");
      const json::Value* property =
          properties == nullptr ? nullptr : properties->find(expression.text);
      const json::Value* additional = object_of(*base.schema, "additionalProperties");
      bool meta = expression.text == "metadata" || expression.text == "apiVersion" ||
                  expression.text == "kind";
      if (property != nullptr && !meta) {
        field = of_schema(property);
      } else if (additional != nullptr) {
        field = of_schema(additional);
      } else if (property == nullptr && !meta && !flag_of(*base.schema, "additionalProperties")) {
        return fail(syntax_error(source_, expression.position,
                                 "undefined field '" + expression.text + "'"));
      }
    }
    return result.type.empty() ? field : result;
  }

  Result<Known> check_index(const Expression& expression) {
    TRY_ASSIGN(Known base, check(*expression.children[0]));
    TRY(check(*expression.children[1]));
    if (base.schema == nullptr || expression.optional) {
      return Known{};
    }
    return of_schema(
        object_of(*base.schema, base.type == "array" ? "items" : "additionalProperties"));
  }

  Result<Known> check_binary(const Expression& expression) {
    TRY_ASSIGN(Known left, check(*expression.children[0]));
    TRY(check(*expression.children[1]));
    using Operation = Expression::Operation;
    switch (expression.operation) {
      case Operation::add:
      case Operation::subtract:
      case Operation::multiply:
      case Operation::divide:
      case Operation::remainder:
        return Known{.type = left.type};
      default:
        return Known{.type = "boolean"};
    }
  }

  Result<Known> check_comprehension(const Expression& expression) {
    TRY_ASSIGN(Known range, check(*expression.children[0]));
    Known element;
    if (range.schema != nullptr && range.type == "array") {
      element = of_schema(object_of(*range.schema, "items"));
    } else if (range.schema != nullptr) {
      element.type = "string";
    }
    using Macro = Expression::Macro;
    if (expression.macro == Macro::opt_map) {
      element = {};
    }
    scope_.emplace_back(expression.text, element);
    for (std::size_t i = 1; i < expression.children.size(); ++i) {
      TRY(check(*expression.children[i]));
    }
    scope_.pop_back();
    if (expression.macro == Macro::filter) {
      return range.type == "array" ? range : Known{.type = "array"};
    }
    return expression.macro == Macro::map       ? Known{.type = "array"}
           : expression.macro == Macro::opt_map ? Known{}
                                                : Known{.type = "boolean"};
  }

  std::string_view source_;
  std::vector<std::pair<std::string_view, Known>> scope_;
};

}  // namespace

Result<std::string_view> check_types(const Expression& expression, std::string_view source,
                                     const json::Value& schema) {
  TRY_ASSIGN(Known known, TypeChecker(source, schema).check(expression));
  return known.type;
}

}  // namespace codeflare::apiserver::cel
