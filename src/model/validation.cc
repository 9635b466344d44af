#include "model/validation.h"

#include <algorithm>
#include <initializer_list>

namespace codeflare::model {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower_alphanumeric(char c) {
  return is_lower(c) || is_digit(c);
}
bool is_alphanumeric(char c) {
  return is_lower_alphanumeric(c) || (c >= 'A' && c <= 'Z');
}

// Not empty, `outer` characters at both ends, `outer` or one of `inner` between them.
template <typename Outer>
bool has_shape(std::string_view text, Outer outer, std::string_view inner) {
  if (text.empty() || !outer(text.front()) || !outer(text.back())) {
    return false;
  }
  return std::ranges::all_of(
      text, [&](char c) { return outer(c) || inner.find(c) != std::string_view::npos; });
}

bool is_dns_label_shape(std::string_view text) {
  return has_shape(text, is_lower_alphanumeric, "-");
}

bool is_dns_subdomain_shape(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_dns_label_shape(text.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(dot + 1);
  }
}

std::string too_long(std::size_t max) {
  return "must be no more than " + std::to_string(max) + " characters";
}

// The rule, examples and the expression it is usually written as.
std::string rule(std::string_view text, std::initializer_list<std::string_view> examples,
                 std::string_view expression) {
  std::string out(text);
  out += " (e.g. ";
  bool first = true;
  for (std::string_view example : examples) {
    if (!first) {
      out += " or ";
    }
    first = false;
    out.append("'").append(example).append("', ");
  }
  return out.append("regex used for validation is '").append(expression).append("')");
}

constexpr std::string_view kQualifiedNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character";
constexpr std::string_view kQualifiedNameExpression = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

std::string qualified_name_rule() {
  return rule(kQualifiedNameRule, {"MyName", "my.name", "123-abc"}, kQualifiedNameExpression);
}

// Names that a volume of files could mistake for a directory.
void check_file_name(std::string_view value, Complaints& out) {
  if (value == "." || value == "..") {
    out.push_back("must not be '" + std::string(value) + "'");
  } else if (value.starts_with("..")) {
    out.emplace_back("must not start with '..'");
  }
}

}  // namespace

Complaints check_dns1123_label(std::string_view value) {
  Complaints out;
  if (value.size() > kDnsLabelLengthMax) {
    out.push_back(too_long(kDnsLabelLengthMax));
  }
  if (is_dns_label_shape(value)) {
    return out;
  }
  if (is_dns_subdomain_shape(value)) {
    out.emplace_back("must not contain dots");
    return out;
  }
  out.push_back(
      rule("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
           "and must start and end with an alphanumeric character",
           {"my-name", "123-abc"}, "[a-z0-9]([-a-z0-9]*[a-z0-9])?"));
  return out;
}

Complaints check_dns1123_subdomain(std::string_view value) {
  Complaints out;
  if (value.size() > kDnsSubdomainLengthMax) {
    out.push_back(too_long(kDnsSubdomainLengthMax));
  }
  if (!is_dns_subdomain_shape(value)) {
    out.push_back(rule(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
        "or '.', and must start and end with an alphanumeric character",
        {"example.com"}, "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"));
  }
  return out;
}

Complaints check_dns1035_label(std::string_view value) {
  Complaints out;
  if (value.size() > kDnsLabelLengthMax) {
    out.push_back(too_long(kDnsLabelLengthMax));
  }
  if (!is_dns_label_shape(value) || !is_lower(value.front())) {
    out.push_back(
        rule("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
             "with an alphabetic character, and end with an alphanumeric character",
             {"my-name", "abc-123"}, "[a-z]([-a-z0-9]*[a-z0-9])?"));
  }
  return out;
}

Complaints check_qualified_name(std::string_view value) {
  Complaints out;
  std::string_view name = value;
  if (const std::size_t slash = value.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = value.substr(0, slash);
    name = value.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      out.push_back("a qualified name " + qualified_name_rule() +
                    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
      return out;
    }
    if (prefix.empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& complaint : check_dns1123_subdomain(prefix)) {
        out.push_back("prefix part " + complaint);
      }
    }
  }
  if (name.empty()) {
    out.emplace_back("name part must be non-empty");
  } else if (name.size() > kQualifiedNameLengthMax) {
    out.push_back("name part " + too_long(kQualifiedNameLengthMax));
  }
  if (!has_shape(name, is_alphanumeric, "-_.")) {
    out.push_back("name part " + qualified_name_rule());
  }
  return out;
}

Complaints check_label_value(std::string_view value) {
  Complaints out;
  if (value.size() > kLabelValueLengthMax) {
    out.push_back(too_long(kLabelValueLengthMax));
  }
  if (!value.empty() && !has_shape(value, is_alphanumeric, "-_.")) {
    out.push_back(
        rule("a valid label must be an empty string or consist of alphanumeric characters, '-', "
             "'_' or '.', and must start and end with an alphanumeric character",
             {"MyValue", "my_value", "12345"}, "(" + std::string(kQualifiedNameExpression) + ")?"));
  }
  return out;
}

Complaints check_config_map_key(std::string_view value) {
  Complaints out;
  if (value.size() > kDnsSubdomainLengthMax) {
    out.push_back(too_long(kDnsSubdomainLengthMax));
  }
  const bool good = !value.empty() && std::ranges::all_of(value, [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_';
  });
  if (!good) {
    out.push_back(
        rule("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
             {"key.name", "KEY_NAME", "key-name"}, "[-._a-zA-Z0-9]+"));
  }
  check_file_name(value, out);
  return out;
}

Complaints check_port_name(std::string_view value) {
  Complaints out;
  if (value.size() > 15) {
    out.push_back(too_long(15));
  }
  const auto allowed = [](char c) { return is_lower_alphanumeric(c) || c == '-'; };
  if (value.empty() || !std::ranges::all_of(value, allowed)) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::ranges::any_of(value, is_lower)) {
    out.emplace_back("must contain at least one letter (a-z)");
  }
  if (value.find("--") != std::string_view::npos) {
    out.emplace_back("must not contain consecutive hyphens");
  }
  if (!value.empty() && (value.front() == '-' || value.back() == '-')) {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

std::string join(const Complaints& complaints, std::string_view separator) {
  std::string out;
  for (const std::string& complaint : complaints) {
    if (!out.empty()) {
      out += separator;
    }
    out += complaint;
  }
  return out;
}

}  // namespace codeflare::model
