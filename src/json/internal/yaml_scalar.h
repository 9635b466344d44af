#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::json::internal {

// The meaning of a YAML scalar when nothing but its text is known: YAML 1.1 as go-yaml v2, and so
// kubectl, reads it.
enum class ScalarType : std::uint8_t { null, boolean, integer, floating, timestamp, string };

struct Scalar {
  ScalarType type = ScalarType::string;
  bool boolean = false;
  std::string integer;  // decimal digits, with a minus sign if negative
  double floating = 0;  // may be infinite or NaN
};

// y, Yes, on, ~, 0x1f, 017, 1_000, .5, .inf ... everything else is a string.
Scalar resolve_plain(std::string_view text);

// The meaning of a scalar with an explicit tag such as "tag:yaml.org,2002:int"; unknown tags leave
// a string. Fails when the text does not fit the tag. !!binary must be decoded by the caller.
Result<Scalar> resolve_tagged(std::string_view text, std::string_view tag);

// 2001-12-14, 2001-12-14t21:59:43.10-05:00 and the like.
bool looks_like_timestamp(std::string_view text);

// 190:20:30: a number for other YAML 1.1 readers, so it is quoted when written.
bool looks_like_base60(std::string_view text);

inline constexpr std::string_view kYamlTagPrefix = "tag:yaml.org,2002:";

}  // namespace codeflare::json::internal
