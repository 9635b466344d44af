// Small texts that come from kubeconfigs, manifests and other people's servers. A text that parses
// also parses again after we write it.

#include "base/base64.h"
#include "base/check.h"
#include "base/go_duration.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

using namespace codeflare;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const std::optional<Duration> duration = go_duration(text)) {
    CHECK(go_duration(to_text(*duration)) == duration);
  }
  if (const Result<WallTime> time = parse_rfc3339(text)) {
    const Result<WallTime> again = parse_rfc3339(to_rfc3339(*time, 9));
    CHECK(again.has_value() && *again == *time);
  }
  if (const Result<std::string> bytes = from_base64(text)) {
    const Result<std::string> again = from_base64(to_base64(*bytes));
    CHECK(again.has_value() && *again == *bytes);
  }
  const Result<std::string> back = from_base64(to_base64(text));
  CHECK(back.has_value() && *back == text);
  return 0;
}
