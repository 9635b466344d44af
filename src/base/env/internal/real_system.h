#pragma once

#include "base/env/env.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace codeflare::internal {

// The kernel's random numbers, fetched many at a time. For the loop's thread.
class RealRandom final : public Random {
 public:
  std::uint64_t next() override;

 private:
  std::array<std::uint64_t, 32> buffer_{};
  std::size_t used_ = 32;
};

class RealVariables final : public Variables {
 public:
  std::optional<std::string> get(const std::string& name) const override;
};

// Ignores SIGPIPE, so that writing to a closed pipe or socket is an error and not the end; stops
// ignoring SIGCHLD if whoever started us did, because ignored children cannot be waited for.
void prepare_signal_dispositions();

}  // namespace codeflare::internal
