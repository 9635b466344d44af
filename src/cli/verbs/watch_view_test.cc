#include "cli/verbs/internal/watch_view.h"

#include "base/async/sleep.h"
#include "cli/testing/verb_world.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::cli::internal {
namespace {

TEST(WatchView, prints_the_lines_that_changed) {
  EXPECT_EQ(new_lines("NAME AGE\na 1\nb 1\n", "NAME AGE\na 1\nb 2\nc 1\n"), "b 2\nc 1\n");
  EXPECT_EQ(new_lines("a\na\n", "a\na\na\n"), "a\n");
  EXPECT_EQ(new_lines("a\n", ""), "");
  EXPECT_EQ(new_lines("", "no end"), "no end");
}

Task<Result<Look>> count_to(int& looks, int end) {
  const int n = ++looks;
  co_return Look{.render =
                     [n](WallTime now) {
                       return "look " + std::to_string(n / 2) + "\n" + to_rfc3339(now) + "\n";
                     },
                 .ended = n == end};
}

TEST(WatchView, ends_with_the_view_and_counts_no_passing_time_as_a_change) {
  testing::VerbWorld world;
  int looks = 0;
  const auto watch = [&](Session& session) {
    return watch_view(session, {.look = [&] { return count_to(looks, 4); }});
  };
  EXPECT_EQ(world.verb(watch), kDone);
  EXPECT_EQ(looks, 4);
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.starts_with("look 0\n")) << text;
  EXPECT_TRUE(text.ends_with("look 1\nlook 2\n")) << text;
  world.console.terminal = true;
  looks = 0;
  EXPECT_EQ(world.verb(watch), kDone);
  EXPECT_TRUE(text.starts_with("\x1b[H\x1b[2Jlook 0\n")) << text;
}

TEST(WatchView, reports_an_object_that_is_gone) {
  testing::VerbWorld world;
  const auto watch = [](Session& session) {
    return watch_view(session,
                      {.look = []() -> Task<Result<Look>> { co_return fail(not_found("gone")); }});
  };
  EXPECT_EQ(world.verb(watch), kNotFound);
  EXPECT_EQ(world.console.err_text, "error: gone\n");
}

}  // namespace
}  // namespace codeflare::cli::internal
