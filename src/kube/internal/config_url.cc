#include "kube/internal/config_url.h"

#include "net/proxy.h"

#include <utility>

namespace codeflare::kube::internal {

namespace {

std::unexpected<Error> bad_server(const std::string& why) {
  return fail(invalid_argument("expected a URL such as https://host:6443, but the " + why));
}

std::unexpected<Error> bad_proxy(const std::string& why) {
  return fail(invalid_argument("expected a URL such as http://proxy:3128, but the " + why));
}

}  // namespace

std::string ServerUrl::to_string() const {
  return endpoint.scheme + "://" + endpoint.authority() + prefix;
}

Result<ServerUrl> parse_server_url(std::string_view text, bool default_tls) {
  if (text.empty()) {
    return fail(invalid_argument("is not set, expected a URL such as https://host:6443"));
  }
  std::string with_scheme(text);
  if (!text.contains("://")) {
    with_scheme = (default_tls ? "https://" : "http://") + with_scheme;
  }
  Result<net::Url> url = net::parse_url(with_scheme);
  if (!url) {
    return bad_server(url.error().message);
  }
  if (!url->user.empty() || !url->password.empty()) {
    return bad_server("URL has a user or password, which belong into the user entry");
  }
  if (url->target.contains('?')) {
    return bad_server("URL has a query");
  }
  ServerUrl server;
  server.prefix = std::exchange(url->target, "/");
  while (server.prefix.ends_with('/')) {
    server.prefix.pop_back();
  }
  server.endpoint = *std::move(url);
  return server;
}

Result<net::Url> parse_config_proxy(std::string_view text) {
  if (!text.contains("://")) {
    return bad_proxy("URL has no scheme: expected http://, https:// or socks5://");
  }
  Result<net::Url> url = net::parse_proxy_url(text);
  if (!url) {
    return bad_proxy(url.error().message);
  }
  return url;
}

}  // namespace codeflare::kube::internal
