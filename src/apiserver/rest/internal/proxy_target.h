#pragma once

#include "apiserver/request/connect.h"
#include "apiserver/rest/internal/server.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// The name of a pod or service in the path of a proxy.
struct ProxyName {
  bool tls = false;
  std::string name;
  std::string port;  // number or name; empty: not given
};

// NAME, NAME:PORT or SCHEME:NAME:PORT, where the scheme is http, https or empty.
std::optional<ProxyName> parse_proxy_name(std::string_view text);

// Where the request of this call goes; the errors are upstream's.
Result<ProxyTarget> proxy_target(const Call& call);

}  // namespace codeflare::apiserver::internal
