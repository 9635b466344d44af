#include "base/check.h"
#include "net/internal/ip_address.h"
#include "net/proxy.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare;
using namespace codeflare::net;

// First line: a host; the rest: a NO_PROXY list.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t line = text.find('\n');
  std::string_view host = text.substr(0, line);
  std::string_view list =
      line == std::string_view::npos ? std::string_view() : text.substr(line + 1);
  bool matched = no_proxy_matches(list, host, 443);
  // More entries never take a match away.
  CHECK(!matched || no_proxy_matches("other.test," + std::string(list), host, 443));
  CHECK(no_proxy_matches(std::string(list) + ",*", host, 443));
  if (std::optional<net::internal::IpBlock> block = net::internal::parse_ip_block(list)) {
    CHECK(block->contains(block->address));
  }
  static_cast<void>(parse_proxy_url(text));
  return 0;
}
