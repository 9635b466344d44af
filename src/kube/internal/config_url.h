#pragma once

#include "base/result.h"
#include "net/url.h"

#include <string>
#include <string_view>

namespace codeflare::kube::internal {

struct ServerUrl {
  net::Url endpoint;   // without path
  std::string prefix;  // path without a slash at the end; mostly empty

  // "https://[::1]:6443/prefix"; the port only when it is not the usual one.
  std::string to_string() const;
};

// "https://host:6443/prefix", or "host:port" with the scheme that `default_tls` says. The message
// of an error says what was expected and does not repeat the text, which may hold a password.
Result<ServerUrl> parse_server_url(std::string_view text, bool default_tls);

// http://, https:// or socks5:// with a host, perhaps with user and password.
Result<net::Url> parse_config_proxy(std::string_view text);

}  // namespace codeflare::kube::internal
