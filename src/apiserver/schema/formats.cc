#include "apiserver/schema/checks.h"
#include "base/base64.h"
#include "base/go_duration.h"
#include "model/validation.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <map>

namespace codeflare::apiserver::schema {
namespace {

// Each source has a type of its own, so each expression is compiled once, when it is first needed.
template <typename Source>
bool matches(Source source, std::string_view text) {
  static const std::shared_ptr<const Pattern> kPattern = *Pattern::compile(source());
  return kPattern->matches(text);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string only_digits(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), is_digit);
  return digits;
}

bool is_ipv6(std::string_view text) {
  std::array<unsigned char, 16> address{};
  return text.find(':') != std::string_view::npos &&
         inet_pton(AF_INET6, std::string(text).c_str(), address.data()) == 1;
}

// Leading zeros are let pass, as upstream does for old objects.
bool is_ipv4(std::string_view text) {
  int parts = 0;
  while (true) {
    std::size_t end = std::min(text.find('.'), text.size());
    int value = 0;
    auto [at, error] = std::from_chars(text.data(), text.data() + end, value);
    if (error != std::errc() || at != text.data() + end || value < 0 || value > 255 ||
        text[0] == '-') {
      return false;
    }
    ++parts;
    if (end == text.size()) {
      return parts == 4;
    }
    text.remove_prefix(end + 1);
    if (text.empty()) {
      return false;
    }
  }
}

bool is_cidr(std::string_view text) {
  std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return false;
  }
  std::string_view address = text.substr(0, slash);
  std::string_view length = text.substr(slash + 1);
  int bits = -1;
  auto [at, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  bool number = error == std::errc() && at == length.data() + length.size() && bits >= 0;
  return number && ((bits <= 32 && is_ipv4(address)) || (bits <= 128 && is_ipv6(address)));
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return false;
  }
  for (std::size_t i : {0u, 1u, 2u, 3u, 5u, 6u, 8u, 9u}) {
    if (!is_digit(text[i])) {
      return false;
    }
  }
  auto part = [&](std::size_t at, std::size_t length) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + length, value);
    return value;
  };
  return std::chrono::year_month_day(std::chrono::year(part(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(part(8, 2))))
      .ok();
}

bool is_date_time(std::string_view text) {
  std::size_t split = text.find_first_of("tT");
  if (split == std::string_view::npos || !is_date(text.substr(0, split))) {
    return false;
  }
  return matches(
      [] {
        return R"(^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([zZ]|[+-][0-9]{2}:[0-9]{2})$)";
      },
      text.substr(split + 1));
}

bool is_duration(std::string_view text) {
  return go_duration(text) ||
         matches(
             [] {
               return R"((?i)[0-9]+\s*(ns|nano[a-z]*|us|\x{b5}s|micro[a-z]*|ms|milli[a-z]*|s|sec[a-z]*|m|min[a-z]*|h|hr|hour[a-z]*|d|day[a-z]*|w|wk|week[a-z]*)\b)";
             },
             text);
}

bool is_uri(std::string_view text) {
  return matches([] { return R"(^(/|[a-zA-Z][a-zA-Z0-9+.-]*:)[^\s\x00-\x1f\x7f]*$)"; }, text) &&
         !matches([] { return R"(%([^0-9a-fA-F]|.[^0-9a-fA-F]|.?$))"; }, text);
}

bool is_hostname(std::string_view text) {
  if (text.size() > 255) {
    return false;
  }
  return matches(
      [] {
        return R"(^([a-zA-Z0-9\pS\pL](-?[a-zA-Z0-9\pS\pL]{0,62})?|([a-zA-Z0-9\pS\pL]([a-zA-Z0-9\-\pS\pL]{0,61}[a-zA-Z0-9\pS\pL])?\.)+[a-zA-Z\pL]{2,63})$)";
      },
      text);
}

bool is_base64(std::string_view text) {
  return !text.empty() && text.size() % 4 == 0 &&
         text.find_first_of("\r\n") == std::string_view::npos && from_base64(text).has_value();
}

bool is_isbn10(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (c != '-' && c != ' ') {
      digits.push_back(c);
    }
  }
  if (!matches([] { return "^[0-9]{9}[0-9X]$"; }, digits)) {
    return false;
  }
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    char c = digits[static_cast<std::size_t>(i)];
    sum += (10 - i) * (c == 'X' ? 10 : c - '0');
  }
  return sum % 11 == 0;
}

bool is_isbn13(std::string_view text) {
  std::string digits = only_digits(text);
  if (digits.size() != 13 || !matches([] { return "^[0-9 -]+$"; }, text)) {
    return false;
  }
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    sum += (digits[i] - '0') * (i % 2 == 0 ? 1 : 3);
  }
  return sum % 10 == 0;
}

bool is_credit_card(std::string_view text) {
  std::string digits = only_digits(text);
  if (digits.size() < 12 || digits.size() > 19) {
    return false;
  }
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    int doubled = digit * 2;
    sum += i % 2 == 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 == 0;
}

constexpr std::string_view kRgb =
    R"(^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$)";

using Check = bool (*)(std::string_view);

const std::map<std::string_view, Check>& checks() {
  static const std::map<std::string_view, Check> kChecks = {
      {"bsonobjectid",
       [](std::string_view t) { return matches([] { return "^[0-9a-fA-F]{24}$"; }, t); }},
      {"uri", is_uri},
      {"email",
       [](std::string_view t) {
         return matches([] { return R"(^([^<>]*<)?[^@\s<>]+@[^@\s<>]+>?$)"; }, t);
       }},
      {"hostname", is_hostname},
      {"ipv4", is_ipv4},
      {"ipv6", is_ipv6},
      {"cidr", is_cidr},
      {"mac",
       [](std::string_view t) {
         return matches(
             [] {
               return "^([0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}([:-][0-9a-fA-F]{2}){0,2}|[0-9a-fA-F]"
                      "{4}(\\.["
                      "0-9a-fA-F]{4}){2,3})$";
             },
             t);
       }},
      {"uuid",
       [](std::string_view t) {
         return matches([] { return "(?i)^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$"; }, t);
       }},
      {"uuid3",
       [](std::string_view t) {
         return matches(
             [] {
               return "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
             },
             t);
       }},
      {"uuid4",
       [](std::string_view t) {
         return matches(
             [] {
               return "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}"
                      "$";
             },
             t);
       }},
      {"uuid5",
       [](std::string_view t) {
         return matches(
             [] {
               return "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}"
                      "$";
             },
             t);
       }},
      {"isbn", [](std::string_view t) { return is_isbn10(t) || is_isbn13(t); }},
      {"isbn10", is_isbn10},
      {"isbn13", is_isbn13},
      {"creditcard", is_credit_card},
      {"ssn",
       [](std::string_view t) {
         return matches([] { return "^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"; }, t);
       }},
      {"hexcolor",
       [](std::string_view t) {
         return matches([] { return "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"; }, t);
       }},
      {"rgbcolor", [](std::string_view t) { return matches([] { return kRgb; }, t); }},
      {"byte", is_base64},
      {"password", [](std::string_view) { return true; }},
      {"date", is_date},
      {"duration", is_duration},
      {"datetime", is_date_time},
      {"k8sshortname", [](std::string_view t) { return model::check_dns1123_label(t).empty(); }},
      {"k8slongname", [](std::string_view t) { return model::check_dns1123_subdomain(t).empty(); }},
  };
  return kChecks;
}

std::string without_dashes(std::string_view format) {
  std::string name(format);
  std::erase(name, '-');
  return name;
}

}  // namespace

bool format_is_known(std::string_view format) {
  return checks().contains(without_dashes(format));
}

bool format_accepts(std::string_view format, std::string_view text) {
  auto at = checks().find(without_dashes(format));
  return at == checks().end() || at->second(text);
}

}  // namespace codeflare::apiserver::schema
