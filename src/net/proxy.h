#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "net/url.h"

#include <optional>
#include <string>
#include <string_view>

namespace codeflare::net {

// The proxy that the environment names for requests to `url`, or nothing. The rules are those of
// Go's net/http, so that what works for kubectl works here: HTTPS_PROXY or HTTP_PROXY (or in lower
// case) by scheme, never for localhost and loopback addresses, except what NO_PROXY lists.
Result<std::optional<Url>> proxy_for(const Url& url, const Variables& variables);

// "proxy:3128", "http://user:password@proxy:3128", "https://proxy" (which is spoken to by TLS) and
// "socks5://proxy", which is also what socks5h becomes: names are looked up by the proxy.
Result<Url> parse_proxy_url(std::string_view text);

// Whether a NO_PROXY list takes the host out: names with or without leading dot or "*." match the
// domain and what is below, addresses and CIDR blocks match addresses, each perhaps with a port;
// "*" matches everything. The host is in lower case, without brackets.
bool no_proxy_matches(std::string_view no_proxy, std::string_view host, std::uint16_t port);

}  // namespace codeflare::net
