#include "platform/progress_pattern.h"

#include <gtest/gtest.h>

namespace codeflare::platform {
namespace {

std::optional<Progress> read(std::string_view log,
                             std::string_view pattern = ProgressPattern::kDefault) {
  Result<ProgressPattern> parsed = ProgressPattern::parse(pattern);
  EXPECT_TRUE(parsed) << parsed.error().message;
  ProgressReader reader(*std::move(parsed));
  for (const char c : log) {
    reader.feed({&c, 1});
  }
  return reader.last();
}

TEST(Progress, is_the_last_line_that_matches_wherever_pieces_are_cut) {
  const std::string_view log = "start\nEpoch 1: 10%\n[rank 0] Epoch  2:  42.5 % done\nloss 3\n";
  EXPECT_EQ(read(log), (Progress{"2", "42.5%"}));
  EXPECT_EQ(read("nothing\nEpoch x: 3%\n"), std::nullopt);
}

TEST(Progress, a_carriage_return_ends_a_line) {
  EXPECT_EQ(read("Epoch 0: 1%\rEpoch 0: 2%\rEpoch 0: 3"), (Progress{"0", "2%"}));
}

TEST(Progress, the_rest_of_the_log_is_a_line) {
  ProgressReader reader(*ProgressPattern::parse());
  reader.feed("Epoch 7: 100%");
  EXPECT_EQ(reader.last(), std::nullopt);
  reader.end();
  EXPECT_EQ(reader.last(), (Progress{"7", "100%"}));
}

TEST(Progress, groups_may_have_names_or_be_single) {
  EXPECT_EQ(read("at 30% of round 4\n", R"(at (?P<progress>\d+)% of round (?P<epoch>\d+))"),
            (Progress{"4", "30%"}));
  EXPECT_EQ(read("done 0.5\n", R"(done (\S+))"), (Progress{"", "0.5%"}));
}

TEST(Progress, patterns_without_a_use_are_errors) {
  EXPECT_FALSE(ProgressPattern::parse("("));
  EXPECT_FALSE(ProgressPattern::parse("done"));
  EXPECT_FALSE(ProgressPattern::parse("(a)(b)(c)"));
  EXPECT_FALSE(ProgressPattern::parse("(?P<epoch>a)"));
}

TEST(Progress, long_lines_and_values_are_cut) {
  EXPECT_EQ(read(std::string(100'000, 'x') + "Epoch 1: 1%\n"), std::nullopt);
  EXPECT_LE(read("done " + std::string(3000, '9') + "\n", R"(done (\S+))")->progress.size(), 33u);
}

}  // namespace
}  // namespace codeflare::platform
