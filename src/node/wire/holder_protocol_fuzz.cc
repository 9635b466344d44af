#include "base/check.h"
#include "node/wire/holder_protocol.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace codeflare::node;

// What is understood goes out again, and is the same.
template <typename T>
void check(std::string_view text, codeflare::Result<T> (*parse)(std::string_view)) {
  if (const codeflare::Result<T> value = parse(text)) {
    const codeflare::Result<T> again = parse(codeflare::model::to_json_text(*value));
    CHECK(again.has_value() && *again == *value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, parse_network_state);
  check(text, parse_holder_request);
  check(text, parse_holder_answer);
  return 0;
}
