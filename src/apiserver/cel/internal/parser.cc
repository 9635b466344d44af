#include "apiserver/cel/internal/parser.h"

#include "apiserver/cel/internal/functions.h"
#include "apiserver/cel/internal/lexer.h"
#include "apiserver/schema/field_errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace codeflare::apiserver::cel {
namespace {

using Kind = Expression::Kind;
using Operation = Expression::Operation;
using Macro = Expression::Macro;

constexpr int kDepthMax = 200;
constexpr std::size_t kSourceMax = 100'000;

struct BinaryOperator {
  std::string_view symbol;
  int strength;
  Operation operation;
};
constexpr std::array<BinaryOperator, 12> kBinary = {{{"==", 3, Operation::equal},
                                                     {"!=", 3, Operation::unequal},
                                                     {"<=", 3, Operation::at_most},
                                                     {">=", 3, Operation::at_least},
                                                     {"<", 3, Operation::less},
                                                     {">", 3, Operation::more},
                                                     {"in", 3, Operation::in},
                                                     {"+", 4, Operation::add},
                                                     {"-", 4, Operation::subtract},
                                                     {"*", 5, Operation::multiply},
                                                     {"/", 5, Operation::divide},
                                                     {"%", 5, Operation::remainder}}};

constexpr std::array<std::string_view, 10> kTypeNames = {
    "int", "uint", "double", "string", "bool", "bytes", "list", "map", "null_type", "type"};

// Names with characters that identifiers can't have are written with these: __dash__ for "-".
std::string unescape(std::string_view name) {
  struct Escape {
    std::string_view from;
    std::string_view to;
  };
  static constexpr std::array<Escape, 4> kEscapes = {
      {{"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}}};
  static constexpr std::array<std::string_view, 20> kKeywords = {
      "true",     "false",   "null",      "in",       "as",  "break",  "const",
      "continue", "else",    "for",       "function", "if",  "import", "let",
      "loop",     "package", "namespace", "return",   "var", "void"};
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
    std::string_view inner = name.substr(2, name.size() - 4);
    if (std::ranges::find(kKeywords, inner) != kKeywords.end()) {
      return std::string(inner);
    }
  }
  std::string result;
  while (!name.empty()) {
    auto at = std::ranges::find_if(
        kEscapes, [&](const Escape& escape) { return name.starts_with(escape.from); });
    if (at != kEscapes.end()) {
      result += at->to;
      name.remove_prefix(at->from.size());
    } else {
      result.push_back(name[0]);
      name.remove_prefix(1);
    }
  }
  return result;
}

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source), lexer_(source) {}

  Result<ExpressionPtr> parse() {
    TRY(advance());
    TRY_ASSIGN(ExpressionPtr root, parse_condition());
    if (token_.kind != Token::Kind::end) {
      return fail(unexpected());
    }
    TRY(check_names(*root));
    return root;
  }

 private:
  Result<void> advance() {
    TRY_ASSIGN(token_, lexer_.next());
    return {};
  }
  bool is(std::string_view symbol) const {
    return token_.text == symbol && (token_.kind == Token::Kind::symbol ||
                                     (symbol == "in" && token_.kind == Token::Kind::identifier));
  }
  Error unexpected() const {
    if (token_.kind == Token::Kind::end) {
      return syntax_error(source_, token_.position, "Syntax error: mismatched input '<EOF>'");
    }
    return syntax_error(source_, token_.position, "Syntax error: unexpected '" + token_.text + "'");
  }
  Result<void> expect(std::string_view symbol) {
    if (!is(symbol)) {
      return fail(unexpected());
    }
    return advance();
  }
  ExpressionPtr make(Kind kind, std::uint32_t position) const {
    auto expression = std::make_unique<Expression>();
    expression->kind = kind;
    expression->position = position;
    return expression;
  }

  // Every rule that can contain itself passes here.
  struct Depth {
    explicit Depth(int& depth) : depth_(depth) { ++depth_; }
    ~Depth() { --depth_; }
    int& depth_;
  };

  Result<ExpressionPtr> parse_condition() {
    Depth depth(depth_);
    if (depth_ > kDepthMax) {
      return fail(
          syntax_error(source_, token_.position,
                       "expression recursion limit exceeded: " + std::to_string(kDepthMax)));
    }
    TRY_ASSIGN(ExpressionPtr left, parse_either());
    if (!is("?")) {
      return left;
    }
    ExpressionPtr result = make(Kind::condition, token_.position);
    TRY(advance());
    TRY_ASSIGN(ExpressionPtr yes, parse_either());
    TRY(expect(":"));
    TRY_ASSIGN(ExpressionPtr no, parse_condition());
    result->children.push_back(std::move(left));
    result->children.push_back(std::move(yes));
    result->children.push_back(std::move(no));
    return result;
  }

  Result<ExpressionPtr> parse_either() {
    return parse_logic("||", Kind::either, &Parser::parse_both);
  }
  Result<ExpressionPtr> parse_both() {
    return parse_logic("&&", Kind::both, &Parser::parse_relation);
  }

  // One node for a whole chain: a long list of conditions must not be a deep tree.
  Result<ExpressionPtr> parse_logic(std::string_view symbol, Kind kind,
                                    Result<ExpressionPtr> (Parser::*operand)()) {
    TRY_ASSIGN(ExpressionPtr first, (this->*operand)());
    if (!is(symbol)) {
      return first;
    }
    ExpressionPtr result = make(kind, token_.position);
    result->children.push_back(std::move(first));
    while (is(symbol)) {
      TRY(advance());
      TRY_ASSIGN(ExpressionPtr next, (this->*operand)());
      result->children.push_back(std::move(next));
    }
    return result;
  }

  Result<ExpressionPtr> parse_relation() { return parse_binary(3); }

  const BinaryOperator* find_operator(int strength_min) const {
    for (const BinaryOperator& op : kBinary) {
      if (is(op.symbol) && op.strength >= strength_min) {
        return &op;
      }
    }
    return nullptr;
  }

  Result<ExpressionPtr> parse_binary(int strength_min) {
    TRY_ASSIGN(ExpressionPtr left, parse_unary());
    int chain = 0;
    while (const BinaryOperator* op = find_operator(strength_min)) {
      if (++chain > kDepthMax) {
        return fail(
            syntax_error(source_, token_.position,
                         "expression recursion limit exceeded: " + std::to_string(kDepthMax)));
      }
      ExpressionPtr result = make(Kind::binary, token_.position);
      result->operation = op->operation;
      TRY(advance());
      TRY_ASSIGN(ExpressionPtr right, parse_binary(op->strength + 1));
      result->children.push_back(std::move(left));
      result->children.push_back(std::move(right));
      left = std::move(result);
    }
    return left;
  }

  Result<ExpressionPtr> parse_unary() {
    Depth depth(depth_);
    if (depth_ > kDepthMax) {
      return fail(
          syntax_error(source_, token_.position,
                       "expression recursion limit exceeded: " + std::to_string(kDepthMax)));
    }
    if (is("!")) {
      ExpressionPtr result = make(Kind::negation, token_.position);
      TRY(advance());
      TRY_ASSIGN(ExpressionPtr operand, parse_unary());
      result->children.push_back(std::move(operand));
      return result;
    }
    if (is("-")) {
      std::uint32_t position = token_.position;
      TRY(advance());
      if (token_.kind == Token::Kind::integer || token_.kind == Token::Kind::real) {
        token_.text.insert(0, "-");  // so that the smallest integer can be written
        return parse_member();
      }
      ExpressionPtr result = make(Kind::negate, position);
      TRY_ASSIGN(ExpressionPtr operand, parse_unary());
      result->children.push_back(std::move(operand));
      return result;
    }
    return parse_member();
  }

  Result<ExpressionPtr> parse_member() {
    TRY_ASSIGN(ExpressionPtr left, parse_primary());
    int chain = 0;
    while (is(".") || is("[")) {
      if (++chain > kDepthMax) {
        return fail(
            syntax_error(source_, token_.position,
                         "expression recursion limit exceeded: " + std::to_string(kDepthMax)));
      }
      if (is(".")) {
        TRY_ASSIGN(left, parse_select(std::move(left)));
      } else {
        ExpressionPtr result = make(Kind::index, token_.position);
        TRY(advance());
        if (is("?")) {
          result->optional = true;
          TRY(advance());
        }
        TRY_ASSIGN(ExpressionPtr index, parse_condition());
        TRY(expect("]"));
        result->children.push_back(std::move(left));
        result->children.push_back(std::move(index));
        left = std::move(result);
      }
    }
    return left;
  }

  Result<ExpressionPtr> parse_select(ExpressionPtr left) {
    std::uint32_t position = token_.position;
    TRY(advance());
    bool optional = is("?");
    if (optional) {
      TRY(advance());
    }
    if (token_.kind != Token::Kind::identifier) {
      return fail(unexpected());
    }
    std::string name = token_.text;
    TRY(advance());
    if (is("(") && !optional) {
      return parse_method(std::move(left), name, position);
    }
    ExpressionPtr result = make(Kind::select, position);
    result->optional = optional;
    result->text = unescape(name);
    result->children.push_back(std::move(left));
    return result;
  }

  Result<std::vector<ExpressionPtr>> parse_arguments(std::string_view end) {
    std::vector<ExpressionPtr> arguments;
    while (!is(end)) {
      TRY_ASSIGN(ExpressionPtr argument, parse_condition());
      arguments.push_back(std::move(argument));
      if (!is(",")) {
        break;
      }
      TRY(advance());
    }
    TRY(expect(end));
    return arguments;
  }

  Result<ExpressionPtr> parse_method(ExpressionPtr left, const std::string& name,
                                     std::uint32_t position) {
    TRY(advance());
    TRY_ASSIGN(std::vector<ExpressionPtr> arguments, parse_arguments(")"));
    // optional.of(x), sets.contains(a, b): functions in a name space.
    if (left->kind == Kind::name && (left->text == "optional" || left->text == "sets")) {
      ExpressionPtr result = make(Kind::call, left->position);
      result->text = left->text + "." + name;
      result->children = std::move(arguments);
      return check_function(std::move(result));
    }
    if (std::optional<Macro> macro = macro_of(name, arguments)) {
      ExpressionPtr result = make(Kind::comprehension, position);
      result->macro = *macro;
      result->text = arguments[0]->text;
      result->children.push_back(std::move(left));
      for (std::size_t i = 1; i < arguments.size(); ++i) {
        result->children.push_back(std::move(arguments[i]));
      }
      return result;
    }
    ExpressionPtr result = make(Kind::call, position);
    result->text = name;
    result->method = true;
    result->children.push_back(std::move(left));
    std::ranges::move(arguments, std::back_inserter(result->children));
    return check_function(std::move(result));
  }

  static std::optional<Macro> macro_of(std::string_view name,
                                       const std::vector<ExpressionPtr>& arguments) {
    bool variable = !arguments.empty() && arguments[0]->kind == Kind::name;
    if (!variable || arguments.size() < 2 || arguments.size() > (name == "map" ? 3u : 2u)) {
      return std::nullopt;
    }
    return name == "all"                                 ? std::optional(Macro::all)
           : name == "exists"                            ? std::optional(Macro::exists)
           : name == "exists_one" || name == "existsOne" ? std::optional(Macro::exists_one)
           : name == "map"                               ? std::optional(Macro::map)
           : name == "filter"                            ? std::optional(Macro::filter)
           : name == "optMap"                            ? std::optional(Macro::opt_map)
                                                         : std::nullopt;
  }

  Result<ExpressionPtr> check_function(ExpressionPtr call) {
    switch (find_function(call->text, call->method, call->children.size())) {
      case FunctionMatch::unknown:
        return fail(syntax_error(source_, call->position,
                                 "undeclared reference to '" + call->text + "' (in container '')"));
      case FunctionMatch::arity:
        return fail(syntax_error(source_, call->position,
                                 "found no matching overload for '" + call->text + "'"));
      case FunctionMatch::known:
        break;
    }
    if (call->text == "matches" && call->children.size() == 2 &&
        call->children[1]->kind == Kind::text) {
      auto pattern = schema::Pattern::compile(call->children[1]->text);
      if (!pattern) {
        return fail(syntax_error(source_, call->position,
                                 "invalid matches argument: " + pattern.error().message));
      }
      call->pattern = *std::move(pattern);
    }
    return call;
  }

  Result<ExpressionPtr> parse_primary() {
    std::uint32_t position = token_.position;
    switch (token_.kind) {
      case Token::Kind::integer:
      case Token::Kind::unsigned_integer:
      case Token::Kind::real:
        return parse_number();
      case Token::Kind::text:
      case Token::Kind::bytes: {
        ExpressionPtr result =
            make(token_.kind == Token::Kind::text ? Kind::text : Kind::bytes, position);
        result->text = token_.text;
        TRY(advance());
        return result;
      }
      case Token::Kind::identifier:
        return parse_identifier();
      default:
        break;
    }
    if (is("(")) {
      TRY(advance());
      TRY_ASSIGN(ExpressionPtr inner, parse_condition());
      TRY(expect(")"));
      return inner;
    }
    if (is("[")) {
      TRY(advance());
      ExpressionPtr result = make(Kind::list, position);
      TRY_ASSIGN(result->children, parse_arguments("]"));
      return result;
    }
    if (is("{")) {
      return parse_map();
    }
    if (is(".")) {  // a name of the root
      TRY(advance());
      return token_.kind == Token::Kind::identifier ? parse_identifier()
                                                    : Result<ExpressionPtr>(fail(unexpected()));
    }
    return fail(unexpected());
  }

  Result<ExpressionPtr> parse_map() {
    ExpressionPtr result = make(Kind::map, token_.position);
    TRY(advance());
    while (!is("}")) {
      TRY_ASSIGN(ExpressionPtr key, parse_condition());
      TRY(expect(":"));
      TRY_ASSIGN(ExpressionPtr value, parse_condition());
      result->children.push_back(std::move(key));
      result->children.push_back(std::move(value));
      if (!is(",")) {
        break;
      }
      TRY(advance());
    }
    TRY(expect("}"));
    return result;
  }

  Result<ExpressionPtr> parse_number() {
    std::string digits = token_.text;
    ExpressionPtr result = make(token_.kind == Token::Kind::real      ? Kind::real
                                : token_.kind == Token::Kind::integer ? Kind::integer
                                                                      : Kind::unsigned_integer,
                                token_.position);
    const char* end = digits.data() + digits.size();
    bool negative = digits.starts_with('-');
    std::size_t skip = negative ? 1 : 0;
    bool hex = digits.size() > skip + 1 && (digits[skip + 1] == 'x' || digits[skip + 1] == 'X');
    if (hex) {
      digits.erase(skip, 2);
      end = digits.data() + digits.size();
    }
    std::from_chars_result read{};
    if (result->kind == Kind::real) {
      read = std::from_chars(digits.data(), end, result->real);
    } else if (result->kind == Kind::integer) {
      read = std::from_chars(digits.data(), end, result->integer, hex ? 16 : 10);
    } else {
      std::uint64_t value = 0;
      read = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
      result->integer = static_cast<std::int64_t>(value);
    }
    if (read.ec != std::errc() || read.ptr != end) {
      return fail(syntax_error(source_, token_.position, "invalid number literal"));
    }
    TRY(advance());
    return result;
  }

  Result<ExpressionPtr> parse_identifier() {
    std::uint32_t position = token_.position;
    std::string name = token_.text;
    TRY(advance());
    if (name == "true" || name == "false") {
      ExpressionPtr result = make(Kind::boolean, position);
      result->integer = name == "true" ? 1 : 0;
      return result;
    }
    if (name == "null") {
      return make(Kind::null, position);
    }
    if (name == "in") {
      return fail(syntax_error(source_, position, "Syntax error: unexpected 'in'"));
    }
    if (is("(")) {
      TRY(advance());
      TRY_ASSIGN(std::vector<ExpressionPtr> arguments, parse_arguments(")"));
      return make_call(name, std::move(arguments), position);
    }
    ExpressionPtr result = make(Kind::name, position);
    result->text = name;
    return result;
  }

  Result<ExpressionPtr> make_call(const std::string& name, std::vector<ExpressionPtr> arguments,
                                  std::uint32_t position) {
    if (name == "has") {
      if (arguments.size() != 1 || arguments[0]->kind != Kind::select) {
        return fail(syntax_error(source_, position, "invalid argument to has() macro"));
      }
      ExpressionPtr result = make(Kind::has, position);
      result->text = arguments[0]->text;
      result->children = std::move(arguments[0]->children);
      return result;
    }
    ExpressionPtr result = make(Kind::call, position);
    result->text = name;
    result->children = std::move(arguments);
    return check_function(std::move(result));
  }

  // Every name is a variable that exists where it stands.
  Result<void> check_names(Expression& expression) {
    if (expression.kind == Kind::name &&
        std::ranges::find(scope_, expression.text) == scope_.end()) {
      if (std::ranges::find(kTypeNames, expression.text) == kTypeNames.end()) {
        return fail(
            syntax_error(source_, expression.position,
                         "undeclared reference to '" + expression.text + "' (in container '')"));
      }
      expression.kind = Kind::type_name;
    }
    if (expression.kind != Kind::comprehension) {
      for (ExpressionPtr& child : expression.children) {
        TRY(check_names(*child));
      }
      return {};
    }
    TRY(check_names(*expression.children[0]));
    scope_.push_back(expression.text);
    for (std::size_t i = 1; i < expression.children.size(); ++i) {
      TRY(check_names(*expression.children[i]));
    }
    scope_.pop_back();
    return {};
  }

  std::string_view source_;
  Lexer lexer_;
  Token token_;
  int depth_ = 0;
  std::vector<std::string> scope_ = {"self", "oldSelf"};
};

}  // namespace

Result<ExpressionPtr> parse_expression(std::string_view source) {
  if (source.size() > kSourceMax) {
    return fail(
        invalid_argument("ERROR: <input>:1:1: expression code point size exceeds limit: size: " +
                         std::to_string(source.size()) + ", limit " + std::to_string(kSourceMax)));
  }
  return Parser(source).parse();
}

}  // namespace codeflare::apiserver::cel
