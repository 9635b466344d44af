#pragma once

#include "json/value.h"

#include <cstddef>

namespace codeflare::json::internal {

// The bytes a clone of the value takes in an arena, at most.
std::size_t footprint(const Value& value);

struct Extent {
  std::size_t nodes = 0;  // values in the tree
  std::size_t depth = 0;  // containers inside each other; 0 for a scalar
};
Extent measure(const Value& value);

}  // namespace codeflare::json::internal
