#pragma once

#include "apiserver/cel/internal/declared.h"
#include "apiserver/cel/internal/expression.h"

#include <cstdint>

namespace codeflare::apiserver::cel {

// The highest cost of the expression, whatever the object that the schema of `self` lets through.
// The units and the way of counting are those of upstream's estimate, so that the same definitions
// are accepted; what has no bound costs the largest number.
std::uint64_t estimate_cost(const Expression& expression, const Declared& self);

}  // namespace codeflare::apiserver::cel
