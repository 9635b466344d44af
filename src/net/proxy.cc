#include "net/proxy.h"

#include "net/internal/ip_address.h"

#include <algorithm>

namespace codeflare::net {

namespace {

using internal::IpAddress;

constexpr std::uint16_t kSocksPort = 1080;

std::string trimmed_lower(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

std::string first_of(const Variables& variables, const char* upper, const char* lower) {
  std::string value = variables.get(upper).value_or("");
  return value.empty() ? variables.get(lower).value_or("") : value;
}

struct Entry {
  std::string_view host;
  std::string_view port;  // empty: any
};

// "host", "host:port", "[v6]:port", "v6".
Entry split_entry(std::string_view text) {
  if (text.starts_with('[')) {
    std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return {text, {}};
    }
    std::string_view rest = text.substr(close + 1);
    return {text.substr(1, close - 1), rest.starts_with(':') ? rest.substr(1) : std::string_view()};
  }
  std::size_t colon = text.find(':');
  // More than one colon is an address without a port.
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return {text, {}};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool domain_matches(std::string_view pattern, std::string_view host) {
  if (pattern.starts_with("*.")) {
    pattern.remove_prefix(1);
  }
  // With a leading dot only what is below matches, without it the domain itself too.
  if (!pattern.starts_with('.')) {
    return host == pattern ||
           (host.ends_with(pattern) && host[host.size() - pattern.size() - 1] == '.');
  }
  return host.ends_with(pattern);
}

bool entry_matches(std::string_view text, std::string_view host,
                   const std::optional<IpAddress>& address, std::string_view port) {
  if (std::optional<internal::IpBlock> block = internal::parse_ip_block(text)) {
    return address && block->contains(*address);
  }
  Entry entry = split_entry(text);
  if (entry.host.empty() || (!entry.port.empty() && entry.port != port)) {
    return false;
  }
  if (std::optional<IpAddress> listed = internal::parse_ip(entry.host)) {
    return address && *address == *listed;
  }
  return domain_matches(entry.host, host);
}

}  // namespace

bool no_proxy_matches(std::string_view no_proxy, std::string_view host, std::uint16_t port) {
  std::optional<IpAddress> address = internal::parse_ip(host);
  std::string port_text = std::to_string(port);
  bool matched = false;
  while (!no_proxy.empty()) {
    std::size_t comma = no_proxy.find(',');
    std::string entry = trimmed_lower(no_proxy.substr(0, comma));
    no_proxy.remove_prefix(comma == std::string_view::npos ? no_proxy.size() : comma + 1);
    matched |= entry == "*" || (!entry.empty() && entry_matches(entry, host, address, port_text));
  }
  return matched;
}

Result<Url> parse_proxy_url(std::string_view text) {
  constexpr std::string_view kMark = "://";
  const std::size_t mark = text.find(kMark);
  const bool has_scheme = mark != std::string_view::npos;
  const std::string scheme = has_scheme ? trimmed_lower(text.substr(0, mark)) : "http";
  const std::string rest(has_scheme ? text.substr(mark + kMark.size()) : text);
  const bool socks = scheme == "socks5" || scheme == "socks5h";
  if (!socks && scheme != "http" && scheme != "https") {
    return fail(invalid_argument("URL scheme is none of http, https and socks5"));
  }
  TRY_ASSIGN(Url url, parse_url((socks ? "http" : scheme) + "://" + rest));
  if (socks) {
    url.scheme = "socks5";
    // Without a port it has that of the scheme that it was read with.
    TRY_ASSIGN(const Url other, parse_url("https://" + rest));
    if (other.port != url.port) {
      url.port = kSocksPort;
    }
  }
  return url;
}

Result<std::optional<Url>> proxy_for(const Url& url, const Variables& variables) {
  std::string proxy;
  if (url.tls()) {
    proxy = first_of(variables, "HTTPS_PROXY", "https_proxy");
  } else {
    proxy = first_of(variables, "HTTP_PROXY", "http_proxy");
    // A CGI program gets the client's "Proxy:" header in HTTP_PROXY.
    if (!proxy.empty() && !variables.get("REQUEST_METHOD").value_or("").empty()) {
      return fail(failed_precondition("HTTP_PROXY is not trusted in a CGI environment"));
    }
  }
  std::optional<IpAddress> address = internal::parse_ip(url.host);
  if (proxy.empty() || url.host == "localhost" || (address && address->is_loopback())) {
    return std::nullopt;
  }
  if (no_proxy_matches(first_of(variables, "NO_PROXY", "no_proxy"), url.host, url.port)) {
    return std::nullopt;
  }
  Result<Url> parsed = parse_proxy_url(proxy);
  if (!parsed) {
    return fail(std::move(parsed).error().with_context(url.tls() ? "HTTPS_PROXY" : "HTTP_PROXY"));
  }
  return *std::move(parsed);
}

}  // namespace codeflare::net
