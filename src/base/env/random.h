#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace codeflare {

// Randomness: from the operating system, or from a seed in simulation.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;

  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1), for jitter only.
  double fraction();
  // A version 4 UUID in its usual text form.
  std::string uuid();
  // `length` characters of the alphabet that Kubernetes uses in generated names.
  std::string name_suffix(std::size_t length = 5);
};

}  // namespace codeflare
