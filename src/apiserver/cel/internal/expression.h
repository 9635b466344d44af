#pragma once

#include "apiserver/schema/checks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::apiserver::cel {

// A piece of an expression. Children are owned, so a program is one tree.
struct Expression {
  enum class Kind : std::uint8_t {
    null,
    boolean,  // integer is 0 or 1
    integer,
    unsigned_integer,
    real,
    text,
    bytes,
    name,           // a variable
    type_name,      // int, string, ...
    list,           // children
    map,            // children: key, value, key, value...
    select,         // child 0, field in text; optional: a.?b
    index,          // child 0 [ child 1 ]; optional: a[?b]
    has,            // child 0, field in text
    call,           // text(children...), or child 0 .text(the rest) for a method
    negate,         // -child
    negation,       // !child
    both,           // &&
    either,         // ||
    condition,      // child 0 ? child 1 : child 2
    binary,         // operation
    comprehension,  // macro over child 0, variable in text, children 1...
  };
  enum class Operation : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    remainder,
    equal,
    unequal,
    less,
    at_most,
    more,
    at_least,
    in
  };
  enum class Macro : std::uint8_t { all, exists, exists_one, map, filter, opt_map };

  Kind kind = Kind::null;
  Operation operation = Operation::add;
  Macro macro = Macro::all;
  bool optional = false;
  bool method = false;
  std::uint32_t position = 0;  // byte in the source
  std::int64_t integer = 0;    // boolean, integer, unsigned (same bits)
  double real = 0;
  std::string text{};
  std::vector<std::unique_ptr<Expression>> children{};
  std::shared_ptr<const schema::Pattern> pattern{};  // of matches() with a literal
};

using ExpressionPtr = std::unique_ptr<Expression>;

}  // namespace codeflare::apiserver::cel
