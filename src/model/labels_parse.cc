#include "model/labels.h"

#include <set>

namespace codeflare::model {
namespace {

using enum SelectorOperator;

enum class TokenKind : std::uint8_t {
  end,
  word,  // keys and values; also "in" and "notin", which are operators only after a key
  open,
  close,
  comma,
  exclamation,
  equals,
  double_equals,
  not_equals,
  greater,
  less,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  Token next() {
    constexpr std::string_view kSpace = " \t\r\n";
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
    if (rest_.empty()) {
      return {};
    }
    for (const Token& symbol : kSymbols) {
      if (rest_.starts_with(symbol.text)) {
        rest_.remove_prefix(symbol.text.size());
        return symbol;
      }
    }
    const std::size_t length = std::min(rest_.find_first_of("=!(),>< \t\r\n"), rest_.size());
    const Token word{TokenKind::word, rest_.substr(0, length)};
    rest_.remove_prefix(length);
    return word;
  }

 private:
  // Longer symbols before their own beginnings.
  static constexpr Token kSymbols[] = {
      {TokenKind::double_equals, "=="}, {TokenKind::not_equals, "!="}, {TokenKind::equals, "="},
      {TokenKind::exclamation, "!"},    {TokenKind::open, "("},        {TokenKind::close, ")"},
      {TokenKind::comma, ","},          {TokenKind::greater, ">"},     {TokenKind::less, "<"},
  };

  std::string_view rest_;
};

Error unexpected(const Token& token, std::string_view expected) {
  std::string message = "found '";
  return invalid_argument(message.append(token.text).append("', expected: ").append(expected));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.next()) {}

  Result<std::vector<Requirement>> parse() {
    std::vector<Requirement> requirements;
    if (token_.kind == TokenKind::end) {
      return requirements;
    }
    if (!at_requirement()) {
      return fail(unexpected(token_, "!, identifier, or 'end of string'"));
    }
    while (true) {
      Result<Requirement> requirement = parse_requirement();
      if (!requirement) {
        return fail(std::move(requirement).error().with_context("unable to parse requirement"));
      }
      requirements.push_back(*std::move(requirement));
      const Token separator = take();
      if (separator.kind == TokenKind::end) {
        return requirements;
      }
      if (separator.kind != TokenKind::comma) {
        return fail(unexpected(separator, "',' or 'end of string'"));
      }
      if (!at_requirement()) {
        return fail(unexpected(token_, "identifier after ','"));
      }
    }
  }

 private:
  Token take() {
    const Token taken = token_;
    token_ = lexer_.next();
    return taken;
  }

  bool at_requirement() const {
    return token_.kind == TokenKind::word || token_.kind == TokenKind::exclamation;
  }
  bool at_end_of_requirement() const {
    return token_.kind == TokenKind::end || token_.kind == TokenKind::comma;
  }

  Result<Requirement> parse_requirement() {
    const bool negated = token_.kind == TokenKind::exclamation;
    if (negated) {
      take();
    }
    const Token key = take();
    if (key.kind != TokenKind::word) {
      return fail(unexpected(key, "identifier"));
    }
    std::string name(key.text);
    if (negated) {
      return Requirement::make(std::move(name), absent, {});
    }
    // A bad key is reported before problems of the rest.
    TRY_ASSIGN(Requirement present, Requirement::make(std::move(name), exists, {}));
    if (at_end_of_requirement()) {
      return present;
    }
    TRY_ASSIGN(const SelectorOperator op, parse_operator());
    TRY_ASSIGN(std::vector<std::string> values,
               op == in || op == not_in ? parse_values() : parse_single_value());
    return Requirement::make(present.key(), op, std::move(values));
  }

  Result<SelectorOperator> parse_operator() {
    const Token token = take();
    switch (token.kind) {
      case TokenKind::equals:
        return SelectorOperator::equals;
      case TokenKind::double_equals:
        return SelectorOperator::double_equals;
      case TokenKind::not_equals:
        return SelectorOperator::not_equals;
      case TokenKind::greater:
        return greater_than;
      case TokenKind::less:
        return less_than;
      default:
        break;
    }
    if (token.text == "in") {
      return in;
    }
    if (token.text == "notin") {
      return not_in;
    }
    return fail(unexpected(token, "in, notin, =, ==, !=, gt, lt"));
  }

  // (a,b,,c): an empty place is the empty value; sorted, each once.
  Result<std::vector<std::string>> parse_values() {
    const Token open = take();
    if (open.kind != TokenKind::open) {
      // Upstream writes no comma here.
      return fail(invalid_argument("found '" + std::string(open.text) + "' expected: '('"));
    }
    std::set<std::string, std::less<>> values;
    while (true) {
      std::string value;
      if (token_.kind == TokenKind::word) {
        value = take().text;
      }
      values.insert(std::move(value));
      const Token separator = take();
      if (separator.kind == TokenKind::close) {
        return std::vector<std::string>(values.begin(), values.end());
      }
      if (separator.kind != TokenKind::comma) {
        return fail(unexpected(separator, "',' or ')'"));
      }
    }
  }

  Result<std::vector<std::string>> parse_single_value() {
    if (at_end_of_requirement()) {
      return std::vector<std::string>{""};
    }
    const Token value = take();
    if (value.kind != TokenKind::word) {
      return fail(unexpected(value, "identifier"));
    }
    return std::vector<std::string>{std::string(value.text)};
  }

  Lexer lexer_;
  Token token_;  // the next one
};

}  // namespace

Result<Selector> Selector::parse(std::string_view text) {
  TRY_ASSIGN(std::vector<Requirement> requirements, Parser(text).parse());
  return of(std::move(requirements));
}

}  // namespace codeflare::model
