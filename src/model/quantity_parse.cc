#include "model/internal/quantity_amount.h"
#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace codeflare::model {
namespace {

using internal::Int128;
using internal::kAmountMax;
using internal::kNanoDigits;
using internal::kNanoPerUnit;
using internal::Uint128;
using Format = Quantity::Format;

// Amounts with a binary suffix end here, as they do in kube-apiserver.
constexpr Uint128 kBinaryAmountMax =
    Uint128{std::numeric_limits<std::int64_t>::max()} * kNanoPerUnit;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The digits at the front of `rest`, which loses them.
std::string_view take_digits(std::string_view& rest) {
  const std::size_t length =
      static_cast<std::size_t>(std::ranges::find_if_not(rest, is_digit) - rest.begin());
  const std::string_view digits = rest.substr(0, length);
  rest.remove_prefix(length);
  return digits;
}

// The meaning of a suffix: times 10^exponent or times 2^exponent.
struct Suffix {
  Format format = Format::decimal_si;
  int exponent = 0;
};

struct NamedSuffix {
  std::string_view name;
  Suffix suffix;
};

constexpr std::array<NamedSuffix, 16> kSuffixes = {{
    {"", {Format::decimal_si, 0}},
    {"m", {Format::decimal_si, -3}},
    {"Mi", {Format::binary_si, 20}},
    {"Gi", {Format::binary_si, 30}},
    {"Ki", {Format::binary_si, 10}},
    {"Ti", {Format::binary_si, 40}},
    {"Pi", {Format::binary_si, 50}},
    {"Ei", {Format::binary_si, 60}},
    {"k", {Format::decimal_si, 3}},
    {"M", {Format::decimal_si, 6}},
    {"G", {Format::decimal_si, 9}},
    {"T", {Format::decimal_si, 12}},
    {"P", {Format::decimal_si, 15}},
    {"E", {Format::decimal_si, 18}},
    {"u", {Format::decimal_si, -6}},
    {"n", {Format::decimal_si, -9}},
}};

// "e3", "E-3". Exponents beyond any amount we can hold are as good as +-1000.
std::optional<int> parse_exponent(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const bool negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') {
    text.remove_prefix(1);
  }
  if (text.empty() || !std::ranges::all_of(text, is_digit)) {
    return std::nullopt;
  }
  int exponent = 0;
  for (char c : text) {
    exponent = std::min(exponent * 10 + (c - '0'), 1000);
  }
  return negative ? -exponent : exponent;
}

std::optional<Suffix> parse_suffix(std::string_view text) {
  auto named = std::ranges::find(kSuffixes, text, &NamedSuffix::name);
  if (named != kSuffixes.end()) {
    return named->suffix;
  }
  if (std::optional<int> exponent = parse_exponent(text)) {
    return Suffix{Format::decimal_exponent, *exponent};
  }
  return std::nullopt;
}

// A number as its digits: whole part without leading zeros, and fraction.
struct Digits {
  std::string_view whole;
  std::string_view fraction;
};

// Nano units of digits * 10^exponent, rounded up, at most kAmountMax.
Uint128 decimal_amount(const Digits& digits, int exponent) {
  // How many of the digits stand before the nano point; zeros are appended when there are too few.
  const std::int64_t whole_size = static_cast<std::int64_t>(digits.whole.size());
  const std::int64_t kept = whole_size + exponent + kNanoDigits;
  Uint128 amount = 0;
  std::int64_t position = 0;
  bool rest = false;
  // One more digit may only follow where ten times the amount stays in range.
  constexpr Uint128 kMax = static_cast<Uint128>(kAmountMax);
  for (std::string_view part : {digits.whole, digits.fraction}) {
    for (char c : part) {
      if (position++ >= kept) {
        rest = rest || c != '0';
      } else if (amount > kMax / 10) {
        return kMax;
      } else {
        amount = amount * 10 + static_cast<Uint128>(c - '0');
      }
    }
  }
  amount += rest ? 1 : 0;
  for (; position < kept && amount != 0; ++position) {
    if (amount > kMax / 10) {
      return kMax;
    }
    amount *= 10;
  }
  return std::min(amount, kMax);
}

// Nano units of digits * 2^exponent, rounded up, at most kBinaryAmountMax.
Uint128 binary_amount(const Digits& digits, int exponent) {
  const Uint128 nano_per_digit = kNanoPerUnit << exponent;
  Uint128 whole = 0;
  for (char c : digits.whole) {
    whole = whole * 10 + static_cast<Uint128>(c - '0');
    if (whole > std::numeric_limits<std::int64_t>::max()) {
      return kBinaryAmountMax;
    }
  }
  if (whole > kBinaryAmountMax / nano_per_digit) {
    return kBinaryAmountMax;
  }
  // Digit by digit from the last: the lost rest is not zero exactly when the fraction is not a
  // whole number of nano units.
  Uint128 fraction = 0;
  bool rest = false;
  for (std::size_t i = digits.fraction.size(); i-- > 0;) {
    fraction += static_cast<Uint128>(digits.fraction[i] - '0') * nano_per_digit;
    rest = rest || fraction % 10 != 0;
    fraction /= 10;
  }
  const Uint128 amount = whole * nano_per_digit + fraction + (rest ? 1 : 0);
  return std::min(amount, kBinaryAmountMax);
}

Error bad_quantity(std::string_view text, std::string_view why) {
  // A long text would not help anybody.
  if (text.size() > 64) {
    return invalid_argument("invalid quantity: " + std::string(why));
  }
  return invalid_argument("invalid quantity \"" + std::string(text) + "\": " + std::string(why));
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) {
    rest.remove_prefix(1);
  }
  Digits digits;
  digits.whole = take_digits(rest);
  bool any = !digits.whole.empty();
  digits.whole.remove_prefix(std::min(digits.whole.find_first_not_of('0'), digits.whole.size()));
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    digits.fraction = take_digits(rest);
    any = any || !digits.fraction.empty();
  }
  if (!any) {
    return fail(bad_quantity(text,
                             "quantities must match the regular expression "
                             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
  }
  const std::optional<Suffix> suffix = parse_suffix(rest);
  if (!suffix) {
    return fail(bad_quantity(text, "unable to parse quantity's suffix"));
  }
  Format format = suffix->format;
  Uint128 amount = 0;
  if (format == Format::binary_si) {
    amount = binary_amount(digits, suffix->exponent);
    // A fraction of a byte is not a binary amount any more.
    if (amount != 0 && amount < internal::kNanoPerUnit) {
      format = Format::decimal_si;
    }
  } else {
    amount = decimal_amount(digits, suffix->exponent);
  }
  const Int128 signed_amount = static_cast<Int128>(amount);
  return of_amount(negative ? -signed_amount : signed_amount, format);
}

}  // namespace codeflare::model
