#include "node/holder/proxy_request.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace codeflare::node {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::uint16_t kHttpPort = 80;
// Between the client and us, or what we decide.
constexpr std::array<std::string_view, 5> kOurHeaders = {
    "connection", "keep-alive", "proxy-authorization", "proxy-connection", "upgrade"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

bool is_host_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
         c == ':';
}

// "example.org:80", "[::1]:80"; the port may be missing when there is one to assume.
Result<void> read_authority(std::string_view text, std::uint16_t assumed, ProxyRequest& request) {
  std::string_view host = text;
  std::string_view port;
  const std::size_t bracket = text.find(']');
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  request.host = lower(host);
  request.port = assumed;
  const auto [end, error] =
      port.empty() ? std::from_chars_result{port.data(), std::errc()}
                   : std::from_chars(port.data(), port.data() + port.size(), request.port);
  if (request.host.empty() || request.host.size() > 255 || error != std::errc() ||
      end != port.data() + port.size() || request.port == 0 ||
      !std::ranges::all_of(request.host, is_host_byte)) {
    return fail(invalid_argument("no host and port to connect to"));
  }
  return {};
}

bool is_ours(std::string_view line) {
  const std::string name = lower(line.substr(0, line.find(':')));
  return std::ranges::find(kOurHeaders, name) != kOurHeaders.end();
}

// The head for the server: the target without the host, and one answer only.
std::string server_head(std::string_view first_line, std::string_view lines) {
  std::string head(first_line);
  head += "\r\n";
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    if (!line.empty() && !is_ours(line)) {
      head += line;
      head += "\r\n";
    }
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 2);
  }
  return head + "Connection: close\r\n\r\n";
}

}  // namespace

Result<std::optional<ProxyRequest>> parse_proxy_request(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos || end > kProxyHeadBytesMax) {
    if (bytes.size() > kProxyHeadBytesMax) {
      return fail(too_large("the head of the request is too long"));
    }
    return std::nullopt;
  }
  const std::string_view head = bytes.substr(0, end + 2);
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last <= first || first == 0 ||
      !line.substr(last + 1).starts_with("HTTP/1.")) {
    return fail(invalid_argument("no HTTP request"));
  }
  const std::string_view method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, last - first - 1);
  ProxyRequest request{.tunnel = method == "CONNECT", .used = end + 4};
  if (request.tunnel) {
    TRY(read_authority(target, 0, request));
    return std::optional(std::move(request));
  }
  if (!lower(target.substr(0, kHttp.size())).starts_with(kHttp)) {
    return fail(invalid_argument("this is a proxy: the request has to name a http:// address"));
  }
  target.remove_prefix(kHttp.size());
  const std::size_t slash = std::min(target.find_first_of("/?"), target.size());
  TRY(read_authority(target.substr(0, slash), kHttpPort, request));
  std::string path(target.substr(slash));
  if (!path.starts_with('/')) {
    path.insert(path.begin(), '/');
  }
  const std::string first_line =
      std::string(method) + " " + path + " " + std::string(line.substr(last + 1));
  request.head = server_head(first_line, head.substr(line.size() + 2));
  return std::optional(std::move(request));
}

}  // namespace codeflare::node
