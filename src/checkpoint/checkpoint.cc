#include "checkpoint/checkpoint.h"

#include "checkpoint/crc32c.h"

namespace codeflare::checkpoint {

std::uint64_t size_of(const Part& part) {
  return part.empty() ? 0 : part.rbegin()->second.offset + part.rbegin()->second.size;
}

std::uint32_t crc32c_of(const Part& part) {
  std::uint32_t crc = 0;
  for (const auto& [offset, chunk] : part) {
    crc = crc32c_combine(crc, chunk.crc32c, chunk.size);
  }
  return crc;
}

std::string_view to_string(State state) {
  switch (state) {
    case State::open:
      return "OPEN";
    case State::sealed:
      return "SEALED";
    case State::committed:
      return "COMMITTED";
  }
  return "";
}

std::uint64_t Checkpoint::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [name, part] : parts) {
    for (const auto& [offset, chunk] : part) {
      sum += chunk.size;
    }
  }
  return sum;
}

}  // namespace codeflare::checkpoint
