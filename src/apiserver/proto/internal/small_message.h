#pragma once

#include "apiserver/proto/internal/wire_reader.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// A message of up to three plain fields that JSON shows as one value: times, quantities and so on.
// Absent fields are zero, unknown ones are passed over.
struct SmallMessage {
  std::array<std::uint64_t, 3> integers{};
  std::array<std::string_view, 3> texts{};
  std::array<bool, 3> present{};

  // `types` has one letter per field number from 1 on: 'i' an integer, 't' text or a message. The
  // result is what is wrong, or empty.
  std::string_view read(std::string_view bytes, std::string_view types);
};

// RFC 3339 with seconds, or with microseconds; nothing when the year has more than four digits.
std::optional<std::string> time_text(std::int64_t seconds, std::int32_t nanos, bool micro);
// Go's zero time, which JSON shows as null.
inline constexpr std::int64_t kZeroTimeSeconds = -62'135'596'800;

}  // namespace codeflare::apiserver::internal
