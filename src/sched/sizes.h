#pragma once

#include "base/result.h"
#include "sched/spec.h"

#include <cstdint>

// Arithmetic on the sizes that an elastic pod set may have.
namespace codeflare::sched {

// Bounds in order, a step or list that reaches both.
Result<void> check_sizes(const Sizes& sizes);
// The smallest allowed size above `size`; 0 if there is none.
std::int64_t size_above(const Sizes& sizes, std::int64_t size);
// The largest allowed size that is not above `size`; 0 below the minimum.
std::int64_t size_within(const Sizes& sizes, std::int64_t size);

}  // namespace codeflare::sched
