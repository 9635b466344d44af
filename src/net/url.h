#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::net {

// An absolute http or https URL.
struct Url {
  std::string scheme;  // "http" or "https"
  std::string user;    // decoded; both empty without user information
  std::string password;
  std::string host;  // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string target = "/";  // path and query as written, at least "/"

  bool tls() const { return scheme == "https"; }
  // "host" or "host:port", as the Host header has it: the scheme's own port is left out.
  std::string authority() const;
  // With the port always.
  std::string host_and_port() const;
};

// Rejects URLs that it does not fully understand; messages never quote user information.
Result<Url> parse_url(std::string_view text);

// Encodes all but unreserved characters; for one path segment or query part.
std::string percent_encode(std::string_view text);
// Fails on a '%' without two hex digits. '+' stays itself.
Result<std::string> percent_decode(std::string_view text);

struct QueryItem {
  std::string name;
  std::string value;
  friend bool operator==(const QueryItem&, const QueryItem&) = default;
};
// In order, names may repeat. '+' is a space; a part without '=' has an empty value.
Result<std::vector<QueryItem>> parse_query(std::string_view query);
std::string build_query(const std::vector<QueryItem>& items);

struct TargetParts {
  std::string_view path;
  std::string_view query;  // without '?'
};
TargetParts split_target(std::string_view target);

}  // namespace codeflare::net
