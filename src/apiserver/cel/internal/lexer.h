#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver::cel {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,
    integer,
    unsigned_integer,
    real,
    text,
    bytes,
    symbol
  };
  Kind kind = Kind::end;
  std::string text{};  // of identifiers and symbols, digits of numbers, content of text
  std::uint32_t position = 0;
};

// "ERROR: <input>:1:5: what", with the line and a caret below.
Error syntax_error(std::string_view source, std::uint32_t position, std::string_view what);

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  Result<Token> next();

 private:
  void skip_space();
  Result<Token> read_number();
  Result<Token> read_text(bool raw, bool bytes);
  Result<void> read_escape(std::string& out, bool bytes);
  Error error(std::string_view what) const;

  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace codeflare::apiserver::cel
