#include "apiserver/cel/internal/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace codeflare::apiserver::cel {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void append_utf8(std::string& out, std::uint32_t code) {
  auto byte = [&](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

}  // namespace

Error syntax_error(std::string_view source, std::uint32_t position, std::string_view what) {
  std::size_t at = std::min<std::size_t>(position, source.size());
  std::size_t begin = at == 0 ? 0 : source.rfind('\n', at - 1) + 1;
  std::size_t end = std::min(source.find('\n', at), source.size());
  auto line =
      std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  std::size_t column = at - begin;
  return invalid_argument("ERROR: <input>:" + std::to_string(line) + ":" +
                          std::to_string(column + 1) + ": " + std::string(what) + "\n | " +
                          std::string(source.substr(begin, end - begin)) + "\n | " +
                          std::string(column, '.') + "^");
}

Error Lexer::error(std::string_view what) const {
  return syntax_error(source_, static_cast<std::uint32_t>(at_), what);
}

void Lexer::skip_space() {
  while (at_ < source_.size()) {
    char c = source_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
      ++at_;
    } else if (source_.substr(at_).starts_with("//")) {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else {
      return;
    }
  }
}

Result<Token> Lexer::next() {
  skip_space();
  Token token{.position = static_cast<std::uint32_t>(at_)};
  if (at_ >= source_.size()) {
    return token;
  }
  char c = source_[at_];
  if (is_letter(c)) {
    std::size_t end = at_;
    while (end < source_.size() && (is_letter(source_[end]) || is_digit(source_[end]))) {
      ++end;
    }
    std::string_view word = source_.substr(at_, end - at_);
    bool quote = end < source_.size() && (source_[end] == '"' || source_[end] == '\'');
    if (quote && word.size() <= 2 && word.find_first_not_of("rRbB") == std::string_view::npos) {
      at_ = end;
      return read_text(word.find_first_of("rR") != std::string_view::npos,
                       word.find_first_of("bB") != std::string_view::npos);
    }
    token.kind = Token::Kind::identifier;
    token.text = word;
    at_ = end;
    return token;
  }
  if (is_digit(c) || (c == '.' && at_ + 1 < source_.size() && is_digit(source_[at_ + 1]))) {
    return read_number();
  }
  if (c == '"' || c == '\'') {
    return read_text(false, false);
  }
  static constexpr std::array<std::string_view, 6> kDouble = {"&&", "||", "==", "!=", "<=", ">="};
  token.kind = Token::Kind::symbol;
  for (std::string_view symbol : kDouble) {
    if (source_.substr(at_).starts_with(symbol)) {
      token.text = symbol;
      at_ += 2;
      return token;
    }
  }
  if (std::string_view("+-*/%!<>?:.,()[]{}").find(c) == std::string_view::npos) {
    return fail(error("Syntax error: token recognition error at: '" + std::string(1, c) + "'"));
  }
  token.text = c;
  ++at_;
  return token;
}

Result<Token> Lexer::read_number() {
  Token token{.kind = Token::Kind::integer, .position = static_cast<std::uint32_t>(at_)};
  std::size_t end = at_;
  auto digits = [&] {
    while (end < source_.size() && is_digit(source_[end])) {
      ++end;
    }
  };
  if (source_.substr(at_).starts_with("0x") || source_.substr(at_).starts_with("0X")) {
    end += 2;
    while (end < source_.size() && std::string_view("0123456789abcdefABCDEF").find(source_[end]) !=
                                       std::string_view::npos) {
      ++end;
    }
  } else {
    digits();
    if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
      token.kind = Token::Kind::real;
      ++end;
      digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      std::size_t sign =
          end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-') ? 2 : 1;
      if (end + sign < source_.size() && is_digit(source_[end + sign])) {
        token.kind = Token::Kind::real;
        end += sign;
        digits();
      }
    }
  }
  token.text = source_.substr(at_, end - at_);
  at_ = end;
  if (token.kind == Token::Kind::integer && at_ < source_.size() &&
      (source_[at_] == 'u' || source_[at_] == 'U')) {
    token.kind = Token::Kind::unsigned_integer;
    ++at_;
  }
  return token;
}

Result<Token> Lexer::read_text(bool raw, bool bytes) {
  Token token{.kind = bytes ? Token::Kind::bytes : Token::Kind::text,
              .position = static_cast<std::uint32_t>(at_)};
  char quote = source_[at_];
  std::string end(1, quote);
  if (source_.substr(at_).starts_with(std::string(3, quote))) {
    end = std::string(3, quote);
  }
  at_ += end.size();
  while (true) {
    if (at_ >= source_.size() || (end.size() == 1 && source_[at_] == '\n')) {
      return fail(error("Syntax error: unterminated text"));
    }
    if (source_.substr(at_).starts_with(end)) {
      at_ += end.size();
      return token;
    }
    if (source_[at_] == '\\' && !raw) {
      ++at_;
      TRY(read_escape(token.text, bytes));
    } else {
      token.text.push_back(source_[at_++]);
    }
  }
}

Result<void> Lexer::read_escape(std::string& out, bool bytes) {
  if (at_ >= source_.size()) {
    return fail(error("Syntax error: unterminated text"));
  }
  char c = source_[at_++];
  constexpr std::string_view kLetters = "abfnrtv\\'\"`?";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"`?";
  if (std::size_t known = kLetters.find(c); known != std::string_view::npos) {
    out.push_back(kValues[known]);
    return {};
  }
  std::size_t length = c == 'x' || c == 'X'   ? 2
                       : c == 'u'             ? 4
                       : c == 'U'             ? 8
                       : c >= '0' && c <= '3' ? 3
                                              : 0;
  int base = length == 3 ? 8 : 16;
  at_ -= length == 3 ? 1 : 0;
  std::uint32_t code = 0;
  if (length == 0 || at_ + length > source_.size()) {
    return fail(error("Syntax error: invalid escape sequence"));
  }
  auto [end, failed] =
      std::from_chars(source_.data() + at_, source_.data() + at_ + length, code, base);
  if (failed != std::errc() || end != source_.data() + at_ + length || code > 0x10FFFF ||
      (code >= 0xD800 && code <= 0xDFFF)) {
    return fail(error("Syntax error: invalid escape sequence"));
  }
  at_ += length;
  if (bytes && length <= 3) {
    out.push_back(static_cast<char>(code));
  } else {
    append_utf8(out, code);
  }
  return {};
}

}  // namespace codeflare::apiserver::cel
