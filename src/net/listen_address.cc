#include "net/listen_address.h"

#include <charconv>

namespace codeflare::net {

std::string ListenAddress::text(std::uint16_t with_port) const {
  const bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(with_port);
}

Result<ListenAddress> parse_listen(const std::string& flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  ListenAddress address;
  bool good = colon != std::string::npos && colon + 1 < text.size();
  if (good) {
    const auto [end, error] =
        std::from_chars(text.data() + colon + 1, text.data() + text.size(), address.port);
    good = error == std::errc() && end == text.data() + text.size();
    address.host = text.substr(0, colon);
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
      address.host = address.host.substr(1, address.host.size() - 2);
    }
  }
  if (!good || address.host.empty()) {
    return fail(
        invalid_argument(flag + " " + text + ": expected ADDRESS:PORT, such as 127.0.0.1:6443"));
  }
  return address;
}

}  // namespace codeflare::net
