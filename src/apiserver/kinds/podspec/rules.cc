#include "apiserver/kinds/podspec/rules.h"

#include "apiserver/schema/checks.h"

#include <algorithm>
#include <limits>

namespace codeflare::apiserver::podspec {

namespace {

constexpr std::int64_t kPortMax = 65535;
constexpr std::int64_t kFileModeMax = 0777;

std::string between(std::int64_t min, std::int64_t max) {
  return "must be between " + std::to_string(min) + " and " + std::to_string(max) + ", inclusive";
}

bool among(Words words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

template <typename Good>
bool all_parts(std::string_view text, char separator, Good good) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!good(text.substr(0, end))) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(end + 1);
  }
}

// A label of a domain name that may also have underscores inside and one in front.
bool is_search_label(std::string_view label) {
  if (label.starts_with('_')) {
    label.remove_prefix(1);
  }
  return !label.empty() && is_lower(label.front()) && is_lower(label.back()) &&
         std::ranges::all_of(label, [](char c) { return is_lower(c) || c == '-' || c == '_'; });
}

}  // namespace

void need(const Field& field, Words keys) {
  for (std::string_view key : keys) {
    if (field.text(key).empty()) {
      field.required(key);
    }
  }
}

void check_name(const Field& field, std::string_view key, NameRule rule) {
  if (!field.text(key).empty()) {
    check_any_name(field, key, rule);
  }
}

void need_name(const Field& field, std::string_view key, NameRule rule) {
  if (field.text(key).empty()) {
    field.required(key);
  } else {
    check_any_name(field, key, rule);
  }
}

void check_any_name(const Field& field, std::string_view key, NameRule rule) {
  field.add(rule(field.text(key)), key, field.text(key));
}

void need_one_of(const Field& field, std::string_view key, Words supported) {
  if (field.text(key).empty()) {
    field.required(key);
  } else {
    check_one_of(field, key, supported);
  }
}

void check_one_of(const Field& field, std::string_view key, Words supported) {
  if (field.has(key) && !among(supported, field.text(key))) {
    field.not_supported(key, field.text(key), supported);
  }
}

void check_not_negative(const Field& field, std::string_view key) {
  if (field.integer(key).value_or(0) < 0) {
    field.invalid(key, "must be greater than or equal to 0");
  }
}

void check_positive(const Field& field, std::string_view key) {
  if (field.integer(key).value_or(1) <= 0) {
    field.invalid(key, "must be greater than zero");
  }
}

void check_range(const Field& field, std::string_view key, std::int64_t min, std::int64_t max) {
  const std::int64_t number = field.integer(key).value_or(min);
  if (number < min || number > max) {
    field.invalid(key, between(min, max));
  }
}

void check_identity(const Field& field, std::string_view key) {
  check_range(field, key, 0, std::numeric_limits<std::int32_t>::max());
}

void check_port(const Field& field, std::string_view key, std::int64_t port) {
  if (port < 1 || port > kPortMax) {
    field.invalid(key, std::to_string(port), between(1, kPortMax));
  }
}

void check_port_or_name(const Field& field, std::string_view key) {
  const Field port = field[key];
  if (port.value().is_string()) {
    field.add(model::check_port_name(port.text()), key, port.text());
  } else {
    check_port(field, key, field.integer(key).value_or(0));
  }
}

void check_file_mode(const Field& field, std::string_view key) {
  const std::int64_t mode = field.integer(key).value_or(0);
  if (mode < 0 || mode > kFileModeMax) {
    field.invalid(key, "must be a number between 0 and 0777 (octal), both inclusive");
  }
}

bool steps_back(std::string_view path) {
  return !all_parts(path, '/', [](std::string_view part) { return part != ".."; });
}

void check_no_back_steps(const Field& field, std::string_view key, std::string_view path) {
  if (steps_back(path)) {
    field.invalid_text(key, path, "must not contain '..'");
  }
}

void check_descending(const Field& field, std::string_view key, std::string_view path) {
  if (path.starts_with('/')) {
    field.invalid_text(key, path, "must be a relative path");
  }
  check_no_back_steps(field, key, path);
}

void check_local(const Field& field, std::string_view key, std::string_view path) {
  check_descending(field, key, path);
  if (path.starts_with("..") && !path.starts_with("../")) {
    field.invalid_text(key, path, "must not start with '..'");
  }
}

void check_address(const Field& field, std::string_view key, std::string_view text) {
  if (!schema::format_accepts("ipv4", text) && !schema::format_accepts("ipv6", text)) {
    field.invalid_text(key, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

model::Complaints check_variable_name(std::string_view name) {
  const bool good =
      std::ranges::all_of(name, [](char c) { return c >= 0x20 && c <= 0x7e && c != '='; });
  return good ? model::Complaints()
              : model::Complaints{
                    "a valid environment variable name must consist only of printable ASCII "
                    "characters other than '='"};
}

model::Complaints check_header_name(std::string_view name) {
  const bool good = !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '-';
  });
  return good ? model::Complaints()
              : model::Complaints{
                    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
                    "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"};
}

model::Complaints check_search_domain(std::string_view domain) {
  model::Complaints complaints;
  if (domain.size() > model::kDnsSubdomainLengthMax) {
    complaints.emplace_back("must be no more than 253 characters");
  }
  if (!all_parts(domain, '.', is_search_label)) {
    complaints.emplace_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', "
        "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
        "regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*"
        "[a-z0-9])?)*')");
  }
  return complaints;
}

model::Complaints check_name_prefix(std::string_view name) {
  // Upstream masks two characters for one.
  return model::check_dns1123_subdomain(name.size() > 1 && name.ends_with('-')
                                            ? std::string(name.substr(0, name.size() - 2)) + "a"
                                            : std::string(name));
}

}  // namespace codeflare::apiserver::podspec
