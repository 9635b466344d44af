#include "elastic/documents.h"
#include "elastic/messages.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

// Documents that others wrote and lines of workers: any bytes are a value or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)codeflare::elastic::parse_membership(text);
  (void)codeflare::elastic::parse_member(text);
  (void)codeflare::elastic::parse_round(text);
  (void)codeflare::elastic::parse_worker_message(text);
  return 0;
}
