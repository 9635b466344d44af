#include "kube/internal/config_url.h"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace codeflare::kube::internal {

namespace {

constexpr std::string_view kExpectedServer =
    "expected a URL such as https://host:6443 (http or https)";

std::unexpected<Error> bad_server(std::string_view why) {
  return fail(invalid_argument(std::string(kExpectedServer) + ", " + std::string(why)));
}

std::optional<boost::urls::url_view> parse_url(std::string_view text) {
  auto url = boost::urls::parse_uri(boost::urls::string_view(text.data(), text.size()));
  return url.has_value() ? std::optional(*url) : std::nullopt;
}

// Zero when it is not between 1 and 65535. (The library's own number wraps around.)
int port_of(const boost::urls::url_view& url, int usual) {
  if (!url.has_port()) {
    return usual;
  }
  auto text = url.port();
  int port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  bool valid = error == std::errc() && end == text.data() + text.size() && port <= 65535;
  return valid ? port : 0;
}

std::string host_of(const boost::urls::url_view& url) {
  std::string host = url.host_address();
  std::ranges::transform(host, host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return host;
}

// Percent-decoding may have brought in anything.
bool valid_host(std::string_view host) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-._:%";
  return !host.empty() && host.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

std::string ServerUrl::to_string() const {
  std::string out = tls ? "https://" : "http://";
  out += host.contains(':') ? "[" + host + "]" : host;
  if (port != (tls ? 443 : 80)) {
    out += ":" + std::to_string(port);
  }
  return out + prefix;
}

Result<ServerUrl> parse_server_url(std::string_view text, bool default_tls) {
  std::string with_scheme(text);
  if (!text.contains("://")) {
    with_scheme = (default_tls ? "https://" : "http://") + with_scheme;
  }
  std::optional<boost::urls::url_view> url = parse_url(with_scheme);
  if (!url) {
    return bad_server("found something that is no URL");
  }
  ServerUrl server;
  server.tls = url->scheme_id() == boost::urls::scheme::https;
  if (!server.tls && url->scheme_id() != boost::urls::scheme::http) {
    return bad_server("found another scheme");
  }
  if (url->has_userinfo()) {
    return bad_server("found a user or password in it, which belong into the user entry");
  }
  if (url->has_query() || url->has_fragment()) {
    return bad_server("found a query or fragment behind it");
  }
  server.host = host_of(*url);
  if (!valid_host(server.host)) {
    return bad_server("found no valid host in it");
  }
  server.port = port_of(*url, server.tls ? 443 : 80);
  if (server.port == 0) {
    return bad_server("found a port that is not between 1 and 65535");
  }
  auto path = url->encoded_path();
  server.prefix.assign(path.data(), path.size());
  while (server.prefix.ends_with('/')) {
    server.prefix.pop_back();
  }
  return server;
}

Result<void> check_proxy_url(std::string_view text) {
  constexpr std::string_view kExpected =
      "expected a proxy URL such as http://host:3128 (http, https or socks5)";
  std::optional<boost::urls::url_view> url = parse_url(text);
  auto bad = [&](std::string_view why) {
    return fail(invalid_argument(std::string(kExpected) + ", " + std::string(why)));
  };
  if (!url) {
    return bad("found something that is no URL");
  }
  auto scheme = url->scheme();
  if (scheme != "http" && scheme != "https" && scheme != "socks5") {
    return bad("found another scheme");
  }
  if (url->host_address().empty() || port_of(*url, 80) == 0) {
    return bad("found no host or no valid port in it");
  }
  return {};
}

}  // namespace codeflare::kube::internal
