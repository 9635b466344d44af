#pragma once

namespace codeflare::model::internal {

// Amounts of a Quantity: whole numbers of nano units.
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

inline constexpr int kNanoDigits = 9;
inline constexpr int kAmountDigitsMax = 38;

constexpr Uint128 power_of_ten(int exponent) {
  Uint128 power = 1;
  for (int i = 0; i < exponent; ++i) {
    power *= 10;
  }
  return power;
}

inline constexpr Uint128 kNanoPerUnit = power_of_ten(kNanoDigits);
// 10^29 units: the largest power of ten below 2^127.
inline constexpr Int128 kAmountMax = static_cast<Int128>(power_of_ten(kAmountDigitsMax));

}  // namespace codeflare::model::internal
