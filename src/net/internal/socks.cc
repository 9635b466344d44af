#include "net/internal/socks.h"

#include "net/internal/ip_address.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// RFC 1928, and RFC 1929 for names and passwords.
namespace codeflare::net::internal {

namespace {

constexpr char kVersion = 5;
constexpr char kNoPassword = 0;
constexpr char kPassword = 2;
constexpr char kPasswordVersion = 1;
constexpr char kConnect = 1;
constexpr char kAddressV4 = 1;
constexpr char kAddressName = 3;
constexpr char kAddressV6 = 4;
constexpr std::size_t kTextMax = 255;

// In the order of their numbers.
constexpr std::array<std::string_view, 9> kRefusals = {
    "",
    "it failed",
    "its rules do not allow it",
    "the network is unreachable",
    "the host is unreachable",
    "the connection was refused",
    "the connection timed out",
    "it does not know how to connect",
    "it does not know addresses of this kind",
};

void add_text(std::string& out, std::string_view text) {
  out += static_cast<char>(text.size());
  out += text;
}

Task<Result<std::string>> receive(Stream& stream, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t have = 0; have < size;) {
    Result<std::size_t> count = co_await stream.read(std::span(bytes).subspan(have));
    if (!count || *count == 0) {
      co_return fail(count ? unavailable("it closed the connection") : std::move(count).error());
    }
    have += *count;
  }
  co_return bytes;
}

Task<Result<void>> log_in(Stream& stream, const Url& proxy) {
  const bool has_password = !proxy.user.empty() || !proxy.password.empty();
  if (proxy.user.size() > kTextMax || proxy.password.size() > kTextMax) {
    co_return fail(invalid_argument("its name or password is longer than 255 bytes"));
  }
  std::string hello = {kVersion, 1, has_password ? kPassword : kNoPassword};
  CO_TRY(co_await stream.write(hello));
  CO_TRY_ASSIGN(const std::string chosen, co_await receive(stream, 2));
  if (chosen[0] != kVersion) {
    co_return fail(unavailable("it does not speak SOCKS 5"));
  }
  if (chosen[1] != hello[2]) {
    co_return fail(unavailable(has_password ? "it takes no name and password"
                                            : "it wants a name and a password"));
  }
  if (!has_password) {
    co_return Result<void>();
  }
  std::string words = {kPasswordVersion};
  add_text(words, proxy.user);
  add_text(words, proxy.password);
  CO_TRY(co_await stream.write(words));
  CO_TRY_ASSIGN(const std::string answer, co_await receive(stream, 2));
  if (answer[1] != 0) {
    co_return fail(unavailable("it rejected the name and password"));
  }
  co_return Result<void>();
}

// The rest of its answer to a request: an address that is nobody's business here, and a port.
Task<Result<void>> skip_address(Stream& stream, char kind) {
  constexpr std::size_t kPort = 2;
  std::size_t size = 0;
  if (kind == kAddressV4) {
    size = 4;
  } else if (kind == kAddressV6) {
    size = 16;
  } else if (kind == kAddressName) {
    CO_TRY_ASSIGN(const std::string length, co_await receive(stream, 1));
    size = static_cast<unsigned char>(length[0]);
  } else {
    co_return fail(unavailable("it does not speak SOCKS 5"));
  }
  CO_TRY(co_await receive(stream, size + kPort));
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> ask_socks(Stream& stream, const Url& proxy, const Url& endpoint) {
  if (endpoint.host.size() > kTextMax) {
    co_return fail(invalid_argument("the name of the host is longer than 255 bytes"));
  }
  CO_TRY(co_await log_in(stream, proxy));
  std::string request = {kVersion, kConnect, 0};
  if (std::optional<IpAddress> address = parse_ip(endpoint.host)) {
    request += address->v4 ? kAddressV4 : kAddressV6;
    for (std::size_t i = address->v4 ? 12 : 0; i < address->bytes.size(); ++i) {
      request += static_cast<char>(address->bytes[i]);
    }
  } else {
    request += kAddressName;
    add_text(request, endpoint.host);
  }
  request += static_cast<char>(endpoint.port >> 8);
  request += static_cast<char>(endpoint.port & 0xff);
  CO_TRY(co_await stream.write(request));
  CO_TRY_ASSIGN(const std::string answer, co_await receive(stream, 4));
  if (answer[0] != kVersion) {
    co_return fail(unavailable("it does not speak SOCKS 5"));
  }
  if (const auto code = static_cast<unsigned char>(answer[1]); code != 0) {
    co_return fail(unavailable(
        "it rejected the connection to " + endpoint.host_and_port() + ": " +
        (code < kRefusals.size() ? std::string(kRefusals[code]) : "code " + std::to_string(code))));
  }
  co_return co_await skip_address(stream, answer[3]);
}

}  // namespace codeflare::net::internal
