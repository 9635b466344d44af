#include "model/quantity.h"

#include "base/check.h"
#include "model/internal/quantity_amount.h"

#include <algorithm>
#include <array>
#include <limits>

namespace codeflare::model {
namespace {

using internal::Int128;
using internal::kAmountMax;
using internal::kNanoDigits;
using internal::power_of_ten;
using internal::Uint128;
using Format = Quantity::Format;

constexpr Uint128 magnitude(Int128 amount) {
  return amount < 0 ? -static_cast<Uint128>(amount) : static_cast<Uint128>(amount);
}

constexpr Int128 clamped(Int128 amount) {
  return std::clamp(amount, -kAmountMax, kAmountMax);
}

void append_number(std::string& out, Uint128 value) {
  std::array<char, 40> buffer;
  std::size_t begin = buffer.size();
  do {
    buffer[--begin] = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  out.append(buffer.data() + begin, buffer.size() - begin);
}

void append_binary(std::string& out, Uint128 units) {
  constexpr std::array<std::string_view, 7> kNames = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t name = 0;
  while (units % 1024 == 0 && name + 1 < kNames.size()) {
    units /= 1024;
    ++name;
  }
  append_number(out, units);
  out += kNames[name];
}

void append_decimal(std::string& out, Uint128 nano, Format format) {
  // Steps of a thousand from nano up; the plain format has no name beyond E.
  constexpr std::array<std::string_view, 10> kNames = {"n", "u", "m", "",  "k",
                                                       "M", "G", "T", "P", "E"};
  std::size_t step = 0;
  while (nano % 1000 == 0 && (format == Format::decimal_exponent || step + 1 < kNames.size())) {
    nano /= 1000;
    ++step;
  }
  append_number(out, nano);
  if (format == Format::decimal_si) {
    out += kNames[step];
  } else if (step != 3) {
    out += 'e';
    out += std::to_string(static_cast<int>(step) * 3 - kNanoDigits);
  }
}

}  // namespace

std::int64_t Quantity::scaled_value(int exponent) const {
  DCHECK(exponent >= -kNanoDigits && exponent <= 18);
  const Uint128 unit = power_of_ten(exponent + kNanoDigits);
  const Uint128 nano = magnitude(amount());
  const Uint128 rounded = nano / unit + (nano % unit == 0 ? 0 : 1);
  const bool negative = high_ < 0;
  const Uint128 limit = Uint128{std::numeric_limits<std::int64_t>::max()} + (negative ? 1 : 0);
  const Int128 result = static_cast<Int128>(std::min(rounded, limit));
  return static_cast<std::int64_t>(negative ? -result : result);
}

std::optional<std::int64_t> Quantity::exact_value() const {
  const Int128 units = amount() / static_cast<Int128>(internal::kNanoPerUnit);
  if (units * static_cast<Int128>(internal::kNanoPerUnit) != amount() ||
      units > std::numeric_limits<std::int64_t>::max() ||
      units < std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(units);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  Int128 sum = 0;
  if (__builtin_add_overflow(amount(), other.amount(), &sum)) {
    sum = high_ < 0 ? -kAmountMax : kAmountMax;
  }
  return *this = of_amount(clamped(sum), is_zero() ? other.format_ : format_);
}

Quantity& Quantity::operator-=(const Quantity& other) {
  return *this += -other;
}

Quantity& Quantity::operator*=(std::int64_t factor) {
  const bool negative = (high_ < 0) != (factor < 0);
  const Uint128 times = magnitude(factor);
  Uint128 product = magnitude(amount());
  if (times != 0 && product > static_cast<Uint128>(kAmountMax) / times) {
    product = static_cast<Uint128>(kAmountMax);
  } else {
    product *= times;
  }
  const Int128 result = static_cast<Int128>(product);
  return *this = of_amount(negative ? -result : result, format_);
}

std::int64_t Quantity::divided_by(const Quantity& part) const {
  CHECK(sign() >= 0 && part.sign() > 0, "division of amounts needs a part above zero");
  const Int128 times = amount() / part.amount();
  return static_cast<std::int64_t>(
      std::min(times, Int128{std::numeric_limits<std::int64_t>::max()}));
}

std::string Quantity::to_string() const {
  std::string out;
  append_to(out);
  return out;
}

void Quantity::append_to(std::string& out) const {
  const Uint128 nano = magnitude(amount());
  if (nano == 0) {
    out += '0';
    return;
  }
  if (high_ < 0) {
    out += '-';
  }
  if (format_ != Format::binary_si) {
    append_decimal(out, nano, format_);
  } else if (nano < 1024 * internal::kNanoPerUnit || nano % internal::kNanoPerUnit != 0) {
    append_decimal(out, nano, Format::decimal_si);
  } else {
    append_binary(out, nano / internal::kNanoPerUnit);
  }
}

}  // namespace codeflare::model
