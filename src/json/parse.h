#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json {

// No matter what the caller allows: deeper trees would exhaust the stack of recursive readers.
inline constexpr std::size_t kDepthLimit = 1'000;
// Duplicate keys are listed up to this many; the rest is dropped.
inline constexpr std::size_t kDuplicateKeysMax = 100;

struct ParseOptions {
  std::size_t max_depth = 512;
  std::size_t max_bytes = std::size_t{256} << 20;
  // Receives the paths of members that occur twice, such as "spec.containers[0].name". The last
  // one wins in any case.
  std::vector<std::string>* duplicate_keys = nullptr;
};

// Strict JSON (RFC 8259): valid UTF-8, no NaN, no comments, nothing after the value. Numbers keep
// their text. The document holds copies of everything it needs.
// Errors name line, column, byte and cause: invalid_argument, or too_large for the limits; the
// detail is a TextPosition.
Result<Document> parse(std::string_view text, const ParseOptions& options = {});

// As parse(), but keys, numbers and strings without escapes point into `text`, which must outlive
// the document: faster and smaller when the bytes are kept anyway.
Result<Document> parse_in_place(std::string_view text, const ParseOptions& options = {});

}  // namespace codeflare::json
