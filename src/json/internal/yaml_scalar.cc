#include "json/internal/yaml_scalar.h"

#include "json/internal/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace codeflare::json::internal {

namespace {

Scalar of_type(ScalarType type) {
  Scalar scalar;
  scalar.type = type;
  return scalar;
}

Scalar of_bool(bool value) {
  Scalar scalar = of_type(ScalarType::boolean);
  scalar.boolean = value;
  return scalar;
}

Scalar of_double(double value) {
  Scalar scalar = of_type(ScalarType::floating);
  scalar.floating = value;
  return scalar;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

std::optional<Scalar> resolve_word(std::string_view text) {
  if (one_of(text, {"", "~", "null", "Null", "NULL"})) {
    return of_type(ScalarType::null);
  }
  if (one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return of_bool(true);
  }
  if (one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return of_bool(false);
  }
  if (one_of(text, {".nan", ".NaN", ".NAN"})) {
    return of_double(std::numeric_limits<double>::quiet_NaN());
  }
  if (one_of(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) {
    return of_double(std::numeric_limits<double>::infinity());
  }
  if (one_of(text, {"-.inf", "-.Inf", "-.INF"})) {
    return of_double(-std::numeric_limits<double>::infinity());
  }
  return std::nullopt;
}

// 0x.., 0o.., 0b.. and 0.. (octal) name their base. Signed 64 bits, or unsigned without a sign.
std::optional<std::string> parse_integer(std::string_view text) {
  bool negative = text.starts_with('-');
  bool has_sign = negative || text.starts_with('+');
  text.remove_prefix(has_sign ? 1 : 0);
  if (text.empty()) {
    return std::nullopt;
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    char letter = static_cast<char>(text[1] | 0x20);
    bool prefixed = text.size() > 2 && (letter == 'x' || letter == 'o' || letter == 'b');
    base = !prefixed || letter == 'o' ? 8 : letter == 'x' ? 16 : 2;
    text.remove_prefix(prefixed ? 2 : 1);
  }
  std::uint64_t value = 0;
  // Rejects signs, prefixes and anything behind the digits.
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  constexpr std::uint64_t kSignedMax = std::numeric_limits<std::int64_t>::max();
  if (has_sign && value > kSignedMax + (negative ? 1 : 0)) {
    return std::nullopt;
  }
  return (negative && value != 0 ? "-" : "") + std::to_string(value);
}

// [-+]? ( .digits | digits [. digits?] ) ( [eE] [-+]? digits )?
bool has_float_shape(std::string_view text) {
  auto digits = [&] {
    std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  auto take_any = [&](std::string_view set) {
    bool found = !text.empty() && set.contains(text[0]);
    text.remove_prefix(found ? 1 : 0);
    return found;
  };
  take_any("+-");
  bool whole = digits() > 0;
  bool point = take_any(".");
  bool fraction = point && digits() > 0;
  if (!whole && !fraction) {
    return false;
  }
  if (take_any("eE")) {
    take_any("+-");
    if (digits() == 0) {
      return false;
    }
  }
  return text.empty();
}

// As Go literals have them. Numbers that start with a digit or sign are not held to it.
bool underscores_separate_digits(std::string_view text) {
  auto digit_at = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && !(digit_at(i - 1) && digit_at(i + 1))) {
      return false;
    }
  }
  return true;
}

std::optional<double> parse_float(std::string_view text) {
  if (!has_float_shape(text)) {
    return std::nullopt;
  }
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) {
    return value;
  }
  // Too small is zero; too large is not a number.
  Decimal decimal = decompose(text);
  bool small = decimal.huge_exponent ? text.find('-', 1) != text.npos : decimal.magnitude < 0;
  return small ? std::optional(decimal.negative ? -0.0 : 0.0) : std::nullopt;
}

std::string_view name_of(ScalarType type) {
  switch (type) {
    case ScalarType::null:
      return "null";
    case ScalarType::boolean:
      return "bool";
    case ScalarType::integer:
      return "int";
    case ScalarType::floating:
      return "float";
    case ScalarType::timestamp:
      return "timestamp";
    case ScalarType::string:
      return "str";
  }
  return "str";
}

}  // namespace

Scalar resolve_plain(std::string_view text) {
  if (auto word = resolve_word(text)) {
    return *word;
  }
  char first = text[0];  // the empty text is a word
  std::string plain(text);
  std::erase(plain, '_');
  if (first == '.') {
    auto value = underscores_separate_digits(text) ? parse_float(plain) : std::nullopt;
    return value ? of_double(*value) : Scalar();
  }
  if (first != '+' && first != '-' && (first < '0' || first > '9')) {
    return {};
  }
  if (looks_like_timestamp(text)) {
    return of_type(ScalarType::timestamp);
  }
  if (auto integer = parse_integer(plain)) {
    Scalar scalar = of_type(ScalarType::integer);
    scalar.integer = *std::move(integer);
    return scalar;
  }
  if (auto value = parse_float(plain)) {
    return of_double(*value);
  }
  // A quirk of the reader we follow: 0b-101 is a number too.
  bool sign_inside = plain.starts_with("0b-") || plain.starts_with("0b+");
  if (auto integer =
          sign_inside ? parse_integer(plain[2] + ("0b" + plain.substr(3))) : std::nullopt) {
    Scalar scalar = of_type(ScalarType::integer);
    scalar.integer = *std::move(integer);
    return scalar;
  }
  return {};
}

Result<Scalar> resolve_tagged(std::string_view text, std::string_view tag) {
  if (!tag.starts_with(kYamlTagPrefix)) {
    return Scalar();
  }
  std::string_view name = tag.substr(kYamlTagPrefix.size());
  if (!one_of(name, {"null", "bool", "int", "float", "timestamp"})) {
    return Scalar();
  }
  Scalar scalar = resolve_plain(text);
  if (name == "float" && scalar.type == ScalarType::integer) {
    return of_double(*parse_float(scalar.integer));
  }
  if (name_of(scalar.type) != name) {
    return fail(invalid_argument("cannot read this " + std::string(name_of(scalar.type)) +
                                 " as !!" + std::string(name)));
  }
  return scalar;
}

bool looks_like_base60(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  if (text.empty() || text[0] < '0' || text[0] > '9') {
    return false;
  }
  std::size_t colon = text.find_first_not_of("0123456789_");
  bool any = false;
  while (colon < text.size() && text[colon] == ':') {
    std::string_view part = text.substr(colon + 1);
    std::size_t length = std::min(part.find_first_not_of("0123456789"), part.size());
    if (length < 1 || length > 2 || (length == 2 && part[0] > '5')) {
      return false;
    }
    any = true;
    colon += 1 + length;
  }
  if (!any || colon >= text.size()) {
    return any;
  }
  return text[colon] == '.' && text.find_first_not_of("0123456789_", colon + 1) == text.npos;
}

}  // namespace codeflare::json::internal
