#include "model/quantity.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace codeflare::model {
namespace {

Quantity q(std::string_view text) {
  Result<Quantity> parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Quantity());
}

TEST(Quantity, text_without_a_digit_is_no_number) {
  for (const char* text : {"", "+", "-", ".", "-.", "Ki", "-Ki", "m", "e3", ".e3"}) {
    Result<Quantity> parsed = Quantity::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(
        parsed.error().message.ends_with("quantities must match the regular expression "
                                         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
  }
}

TEST(Quantity, a_wrong_suffix_is_named_unless_the_text_is_long) {
  EXPECT_EQ(Quantity::parse("12KB").error().message,
            "invalid quantity \"12KB\": unable to parse quantity's suffix");
  EXPECT_EQ(Quantity::parse(std::string(1000, '1') + "x").error().message,
            "invalid quantity: unable to parse quantity's suffix");
}

TEST(Quantity, comparison_looks_at_the_amount_and_not_at_the_writing) {
  EXPECT_EQ(q("1Ki"), q("1.024k"));
  EXPECT_EQ(q("1000m"), q("1"));
  EXPECT_EQ(q("-0"), q("0"));
  EXPECT_LT(q("999m"), q("1"));
  EXPECT_LT(q("-1"), q("-999m"));
  EXPECT_GT(q("1G"), q("953Mi"));
}

TEST(Quantity, a_sum_is_exact_and_keeps_the_format_of_its_first_part) {
  EXPECT_EQ((q("0.1") + q("0.2")).to_string(), "300m");
  EXPECT_EQ((q("1Gi") + q("512Mi")).to_string(), "1536Mi");
  EXPECT_EQ((q("1Gi") + q("1")).to_string(), "1073741825");
  EXPECT_EQ((q("1Gi") + q("1m")).to_string(), "1073741824001m");
  EXPECT_EQ((q("1") + q("1Ki")).to_string(), "1025");
  EXPECT_EQ((Quantity() + q("2Gi")).to_string(), "2Gi");
  EXPECT_EQ((q("1e3") + q("500m")).to_string(), "1000500e-3");
  EXPECT_EQ((q("1Gi") - q("1Gi")).to_string(), "0");
  EXPECT_EQ((q("1") - q("1500m")).to_string(), "-500m");
}

TEST(Quantity, multiplication_is_exact) {
  EXPECT_EQ((q("100m") * 15).to_string(), "1500m");
  EXPECT_EQ((q("1Gi") * -2).to_string(), "-2Gi");
  EXPECT_EQ((q("1n") * 0).to_string(), "0");
  EXPECT_EQ((Quantity(1) * std::numeric_limits<std::int64_t>::min()).value(),
            std::numeric_limits<std::int64_t>::min());
}

TEST(Quantity, what_is_too_large_counts_as_ten_to_the_29) {
  const Quantity most = q("1e29");
  EXPECT_EQ(q("1e30"), most);
  EXPECT_EQ(q("1e999999999999"), most);
  EXPECT_EQ(q("-1e30"), -most);
  EXPECT_EQ(q(std::string(100, '9')), most);
  EXPECT_EQ(q(std::string(100, '0') + "1").to_string(), "1");
  EXPECT_EQ(most + most, most);
  EXPECT_EQ(-most - most, -most);
  EXPECT_EQ(most * 7, most);
  EXPECT_EQ(most * -7, -most);
  EXPECT_EQ(most * 0, Quantity());
  EXPECT_EQ(most.to_string(), "100e27");
  EXPECT_EQ(q("100000000000E").to_string(), "100000000000E");
  // Kubernetes itself writes "1" here: it has no suffix for 10^21.
  EXPECT_EQ(q("1000E").to_string(), "1000E");
}

TEST(Quantity, whole_numbers_are_rounded_away_from_zero_and_clamped) {
  EXPECT_EQ(q("1n").value(), 1);
  EXPECT_EQ(q("-1n").value(), -1);
  EXPECT_EQ(q("1500u").milli_value(), 2);
  EXPECT_EQ(q("1e20").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(q("-1e20").value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(q("2500").scaled_value(3), 3);
  EXPECT_EQ(q("1").scaled_value(-9), 1'000'000'000);
}

TEST(Quantity, an_exact_value_needs_whole_units_that_fit) {
  EXPECT_EQ(q("1Gi").exact_value(), 1073741824);
  EXPECT_EQ(q("-3").exact_value(), -3);
  EXPECT_EQ(q("1500m").exact_value(), std::nullopt);
  EXPECT_EQ(q("1e19").exact_value(), std::nullopt);
}

TEST(Quantity, division_says_how_often_a_part_fits) {
  EXPECT_EQ(q("4").divided_by(q("1500m")), 2);
  EXPECT_EQ(q("1Gi").divided_by(q("256Mi")), 4);
  EXPECT_EQ(q("0").divided_by(q("1")), 0);
  EXPECT_EQ(q("1e29").divided_by(q("1n")), std::numeric_limits<std::int64_t>::max());
}

TEST(Quantity, constructors_take_units_thousandths_and_nano_units) {
  EXPECT_EQ(Quantity(1024, Quantity::Format::binary_si).to_string(), "1Ki");
  EXPECT_EQ(Quantity(1000, Quantity::Format::binary_si).to_string(), "1k");
  EXPECT_EQ(Quantity::milli(2500).to_string(), "2500m");
  EXPECT_EQ(Quantity::nano(1'000'000).to_string(), "1m");
  EXPECT_EQ(Quantity(std::numeric_limits<std::int64_t>::min()).to_string(), "-9223372036854775808");
}

// Amounts of every size and format: what is written reads back as the same amount and the same
// text, and sums and differences undo each other.
TEST(Quantity, canonical_text_is_a_fixed_point) {
  std::mt19937_64 random(20260101);
  constexpr std::array kFormats = {Quantity::Format::decimal_si, Quantity::Format::binary_si,
                                   Quantity::Format::decimal_exponent};
  for (int i = 0; i < 20'000; ++i) {
    const auto number = [&] { return static_cast<std::int64_t>(random()) >> (random() % 64); };
    Quantity a = Quantity::nano(number(), kFormats[random() % 3]);
    if (random() % 2 == 0) {
      a *= number() >> 32;
    }
    const std::string text = a.to_string();
    const Quantity back = q(text);
    ASSERT_EQ(back, a) << text;
    ASSERT_EQ(back.to_string(), text);
    const Quantity b = Quantity(number());
    ASSERT_EQ(a + b - b, a) << text;
    ASSERT_EQ(a < b, (a - b).sign() < 0) << text;
  }
}

}  // namespace
}  // namespace codeflare::model
