#include "base/check.h"
#include "node/wire/holder_protocol.h"
#include "node/wire/message.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace codeflare::node;

// A message that parses is written again as the same message.
template <typename T>
void check(std::string_view text) {
  if (const codeflare::Result<T> value = parse_message<T>(text)) {
    const codeflare::Result<T> again = parse_message<T>(codeflare::model::to_json_text(*value));
    CHECK(again.has_value() && *again == *value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check<NetworkState>(text);
  check<HolderRequest>(text);
  check<HolderAnswer>(text);
  return 0;
}
