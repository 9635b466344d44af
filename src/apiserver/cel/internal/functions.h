#pragma once

#include "apiserver/cel/internal/value.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace codeflare::apiserver::cel {

enum class FunctionMatch : std::uint8_t { unknown, arity, known };

// Whether there is such a function; the receiver of a method counts as an argument.
FunctionMatch find_function(std::string_view name, bool method, std::size_t arguments);

// Calls it. matches() with a literal is the evaluator's, which has it compiled.
Result<Value> call_function(Context& context, std::string_view name,
                            std::span<const Value> arguments);

// Operators that are not macros: + - * / %.
enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide, remainder };
Result<Value> calculate(Context& context, Arithmetic operation, const Value& a, const Value& b);

}  // namespace codeflare::apiserver::cel
