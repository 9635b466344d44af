#pragma once

#include "json/value.h"

#include <cstdint>
#include <string>

namespace codeflare::json::testing {

// Random values for property tests: the same seed gives the same values everywhere. Strings lean
// towards what is special in JSON and YAML. Numbers fit 64 bits or a double.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : state_(seed) {}

  Value value(Arena& arena, int depth_left = 4);
  std::string text();
  // Below `limit`, which must not be 0.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t next();
  Value number(Arena& arena);

  std::uint64_t state_;
};

}  // namespace codeflare::json::testing
