#pragma once

#include "base/result.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::model {

// An amount of a resource as Kubernetes writes it: "100m", "1.5Gi", "3e2". Exact: a whole number
// of nano units in 128 bits, no floating point anywhere. Finer fractions are rounded away from
// zero when read (who asks for something gets something). Magnitudes end at 10^29 units: what is
// larger counts as that, in parsing and in arithmetic. Comparison looks at the amount only.
//   TRY_ASSIGN(Quantity q, Quantity::parse("1.5Gi"));  q += Quantity(1);  q.to_string();
class Quantity {
 public:
  // How the amount is written: 12e6, 12M or 12Mi. Kept from the text it was read from.
  enum class Format : std::uint8_t { decimal_si, binary_si, decimal_exponent };

  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t units, Format format = Format::decimal_si)
      : Quantity(of_amount(Int128{units} * kNanoPerUnit, format)) {}
  static constexpr Quantity milli(std::int64_t value, Format format = Format::decimal_si) {
    return of_amount(Int128{value} * (kNanoPerUnit / 1000), format);
  }
  static constexpr Quantity nano(std::int64_t value, Format format = Format::decimal_si) {
    return of_amount(Int128{value}, format);
  }

  // All of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, e3, E-3, signs and decimal fractions. As in
  // kube-apiserver amounts with a binary suffix end at 2^63-1.
  static Result<Quantity> parse(std::string_view text);

  Format format() const { return format_; }
  bool is_zero() const { return sign() == 0; }
  int sign() const { return high_ < 0 ? -1 : (high_ == 0 && low_ == 0 ? 0 : 1); }

  // Whole units, thousandths, 10^-9ths..: rounded away from zero, clamped to 64 bits.
  std::int64_t value() const { return scaled_value(0); }
  std::int64_t milli_value() const { return scaled_value(-3); }
  // The amount in units of 10^exponent; exponent between -9 and 18.
  std::int64_t scaled_value(int exponent) const;
  // The number of units when it is whole and fits.
  std::optional<std::int64_t> exact_value() const;

  // A zero takes over the format of what is added to it, so sums look like their parts.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  Quantity& operator*=(std::int64_t factor);
  Quantity operator-() const { return of_amount(-amount(), format_); }
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  friend Quantity operator*(Quantity a, std::int64_t factor) { return a *= factor; }

  friend bool operator==(const Quantity& a, const Quantity& b) { return a.amount() == b.amount(); }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.amount() <=> b.amount();
  }

  // How often `part` goes into this whole, rounded down; both at least zero, part above zero.
  std::int64_t divided_by(const Quantity& part) const;

  // Canonical: no fraction, the largest suffix that loses nothing; "0" for zero. 1.5 is "1500m",
  // 1024Ki is "1Mi"; a binary format with a fraction or below 1024 is written as decimal.
  std::string to_string() const;
  void append_to(std::string& out) const;

 private:
  __extension__ using Int128 = __int128;
  static constexpr std::int64_t kNanoPerUnit = 1'000'000'000;

  static constexpr Quantity of_amount(Int128 amount, Format format) {
    Quantity quantity;
    quantity.high_ = static_cast<std::int64_t>(amount >> 64);
    quantity.low_ = static_cast<std::uint64_t>(amount);
    quantity.format_ = format;
    return quantity;
  }
  constexpr Int128 amount() const { return (Int128{high_} << 64) | Int128{low_}; }

  // In two halves, so that the whole is 24 bytes and not aligned to 16.
  std::int64_t high_ = 0;
  std::uint64_t low_ = 0;
  Format format_ = Format::decimal_si;
};

static_assert(sizeof(Quantity) == 24);

}  // namespace codeflare::model
