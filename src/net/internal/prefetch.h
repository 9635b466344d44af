#pragma once

#include <cstddef>

namespace codeflare::net::internal {

// Asks the processor for memory that will be needed soon. Only a hint: any address will do.
inline void prefetch(const void* memory, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) {
    __builtin_prefetch(static_cast<const char*>(memory) + at);
  }
}

}  // namespace codeflare::net::internal
