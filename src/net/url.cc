#include "net/url.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace codeflare::net {

namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_unreserved(char c) {
  return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return fail(invalid_argument("'%' without two hex digits"));
      }
      result += static_cast<char>(high * 16 + low);
      i += 2;
    } else if (text[i] == '+' && plus_is_space) {
      result += ' ';
    } else {
      result += text[i];
    }
  }
  return result;
}

bool valid_host_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 &&
         std::ranges::all_of(host, [](char c) { return is_unreserved(c) && c != '~'; });
}

// Digits, colons, dots and nothing else; the socket layer reads it exactly.
bool valid_ipv6(std::string_view host) {
  return host.size() >= 2 && host.size() <= 45 && host.find(':') != std::string_view::npos &&
         std::ranges::all_of(host,
                             [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; });
}

Result<void> parse_user(Url& url, std::string_view text) {
  std::size_t colon = text.find(':');
  Result<std::string> user = decode(text.substr(0, colon), false);
  Result<std::string> password =
      colon == std::string_view::npos ? std::string() : decode(text.substr(colon + 1), false);
  if (!user || !password) {
    return fail(invalid_argument("URL has malformed user information"));
  }
  url.user = *std::move(user);
  url.password = *std::move(password);
  return {};
}

Result<void> parse_port(Url& url, std::string_view text) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), url.port);
  if (error != std::errc() || end != text.data() + text.size() || url.port == 0) {
    return fail(invalid_argument("URL has a malformed port"));
  }
  return {};
}

Result<void> parse_host_and_port(Url& url, std::string_view text) {
  std::string_view rest;
  if (text.starts_with('[')) {
    std::size_t close = text.find(']');
    if (close == std::string_view::npos || !valid_ipv6(text.substr(1, close - 1))) {
      return fail(invalid_argument("URL has a malformed IPv6 address"));
    }
    url.host = lower(text.substr(1, close - 1));
    rest = text.substr(close + 1);
  } else {
    std::size_t colon = text.find(':');
    std::string_view host = text.substr(0, colon);
    if (!valid_host_name(host)) {
      return fail(invalid_argument("URL has a malformed host"));
    }
    url.host = lower(host);
    rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (rest.empty()) {
    return {};
  }
  if (rest[0] != ':') {
    return fail(invalid_argument("URL has a malformed port"));
  }
  return parse_port(url, rest.substr(1));
}

}  // namespace

std::string Url::host_and_port() const {
  bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Url::authority() const {
  if (port == (tls() ? 443 : 80)) {
    return host.find(':') != std::string::npos ? "[" + host + "]" : host;
  }
  return host_and_port();
}

Result<Url> parse_url(std::string_view text) {
  std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) {
    return fail(invalid_argument("URL has no scheme: expected http:// or https://"));
  }
  Url url;
  url.scheme = lower(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https") {
    return fail(invalid_argument("URL scheme is neither http nor https"));
  }
  url.port = url.tls() ? 443 : 80;
  text.remove_prefix(colon + 3);
  std::size_t path = text.find_first_of("/?#");
  std::string_view authority = text.substr(0, path);
  std::string_view target = path == std::string_view::npos ? std::string_view() : text.substr(path);
  // The last '@': a password may contain one.
  if (std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    TRY(parse_user(url, authority.substr(0, at)));
    authority.remove_prefix(at + 1);
  }
  TRY(parse_host_and_port(url, authority));
  bool clean =
      std::ranges::all_of(target, [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
  if (!clean || !percent_decode(target)) {
    return fail(invalid_argument("URL has a malformed path or query"));
  }
  if (!target.empty()) {
    url.target = target[0] == '/' ? std::string(target) : "/" + std::string(target);
  }
  return url;
}

std::string percent_encode(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (char c : text) {
    if (is_unreserved(c)) {
      result += c;
    } else {
      auto byte = static_cast<unsigned char>(c);
      result += '%';
      result += kHex[byte >> 4];
      result += kHex[byte & 15];
    }
  }
  return result;
}

Result<std::string> percent_decode(std::string_view text) {
  return decode(text, false);
}

Result<std::vector<QueryItem>> parse_query(std::string_view query) {
  std::vector<QueryItem> items;
  while (!query.empty()) {
    std::size_t end = query.find('&');
    std::string_view part = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (part.empty()) {
      continue;
    }
    std::size_t equals = part.find('=');
    Result<std::string> name = decode(part.substr(0, equals), true);
    Result<std::string> value =
        equals == std::string_view::npos ? std::string() : decode(part.substr(equals + 1), true);
    if (!name || !value) {
      return fail(invalid_argument("malformed query: '%' without two hex digits"));
    }
    items.push_back({*std::move(name), *std::move(value)});
  }
  return items;
}

std::string build_query(const std::vector<QueryItem>& items) {
  std::string query;
  for (const QueryItem& item : items) {
    if (!query.empty()) {
      query += '&';
    }
    query += percent_encode(item.name) + "=" + percent_encode(item.value);
  }
  return query;
}

TargetParts split_target(std::string_view target) {
  std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) {
    return {target, {}};
  }
  return {target.substr(0, mark), target.substr(mark + 1)};
}

}  // namespace codeflare::net
