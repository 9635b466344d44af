#include "base/env/random.h"

#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace codeflare {
namespace {

class RandomTest : public BothWorlds {
 protected:
  Random& random() { return env().random; }
};
INSTANTIATE_BOTH_WORLDS(RandomTest);

TEST_P(RandomTest, does_not_repeat_itself) {
  std::set<std::uint64_t> values;
  for (int i = 0; i < 10'000; ++i) {
    values.insert(random().next());
  }
  EXPECT_EQ(values.size(), 10'000u);
}

TEST_P(RandomTest, below_is_even) {
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) {
    ++counts.at(random().below(10));
  }
  for (int count : counts) {
    // 10,000 expected; a deviation of 700 is more than seven standard deviations.
    EXPECT_NEAR(count, 10'000, 700);
  }
  EXPECT_EQ(random().below(1), 0u);
}

TEST_P(RandomTest, fraction_lies_between_zero_and_one) {
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    double value = random().fraction();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.03);
}

TEST_P(RandomTest, uuids_have_version_and_variant) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    std::string uuid = random().uuid();
    ASSERT_EQ(uuid.size(), 36u);
    EXPECT_EQ(uuid[14], '4') << uuid;
    EXPECT_TRUE(std::string("89ab").contains(uuid[19])) << uuid;
    for (std::size_t k = 0; k < uuid.size(); ++k) {
      bool dash = k == 8 || k == 13 || k == 18 || k == 23;
      EXPECT_TRUE(dash ? uuid[k] == '-' : std::string("0123456789abcdef").contains(uuid[k]))
          << uuid;
    }
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST_P(RandomTest, name_suffixes_use_the_safe_alphabet) {
  std::string suffix = random().name_suffix(1000);
  EXPECT_EQ(suffix.size(), 1000u);
  EXPECT_EQ(suffix.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
  EXPECT_EQ(random().name_suffix().size(), 5u);
}

}  // namespace
}  // namespace codeflare
