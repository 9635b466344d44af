#include "base/check.h"
#include "node/holder/proxy_request.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace codeflare::node;

// An accepted request is used up within the input, and its head is one that ends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto request = parse_proxy_request(bytes);
  if (request && *request) {
    CHECK((*request)->used <= size);
    CHECK(!(*request)->host.empty() && (*request)->port != 0);
    CHECK((*request)->tunnel || (*request)->head.find("\r\n\r\n") == (*request)->head.size() - 4);
  }
  return 0;
}
