#pragma once

#include "apiserver/cel/internal/expression.h"
#include "base/result.h"

#include <string_view>

namespace codeflare::apiserver::cel {

// The whole text as one expression: macros expanded, names and functions known.
Result<ExpressionPtr> parse_expression(std::string_view source);

}  // namespace codeflare::apiserver::cel
