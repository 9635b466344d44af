#pragma once

#include "apiserver/cel/internal/expression.h"
#include "base/result.h"
#include "json/value.h"

#include <string_view>

namespace codeflare::apiserver::cel {

// Checks an expression before it runs, given the JSON schema of `self`: fields that the schema does
// not have are errors. Returns the schema type of the result ("boolean"), or nothing when it is not
// known.
Result<std::string_view> check_types(const Expression& expression, std::string_view source,
                                     const json::Value& schema);

}  // namespace codeflare::apiserver::cel
