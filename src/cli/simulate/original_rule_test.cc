#include "cli/simulate/original_rule.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace codeflare::cli::simulate {
namespace {

using Sizes = std::vector<std::int64_t>;

TEST(OriginalRule, gives_the_first_its_maximum) {
  EXPECT_EQ(original_sizes({{2, 4}}, 5), (Sizes{4}));
}

TEST(OriginalRule, squeezes_only_while_something_is_idle) {
  EXPECT_EQ(original_sizes({{2, 4}, {2, 4}}, 5), (Sizes{3, 2}));
  EXPECT_EQ(original_sizes({{2, 5}, {2, 4}}, 5), (Sizes{5, 0}));
}

TEST(OriginalRule, lets_nobody_pass_one_that_waits) {
  EXPECT_EQ(original_sizes({{4, 4}, {8, 8}, {1, 1}}, 5), (Sizes{4, 0, 0}));
}

TEST(OriginalRule, takes_from_the_end_and_not_from_higher_priority) {
  EXPECT_EQ(original_sizes({{1, 3, 5}, {1, 3, 0}, {2, 4, 0}}, 7), (Sizes{3, 2, 2}));
  EXPECT_EQ(original_sizes({{1, 6, 5}, {2, 4, 0}}, 7), (Sizes{6, 0}));
}

}  // namespace
}  // namespace codeflare::cli::simulate
