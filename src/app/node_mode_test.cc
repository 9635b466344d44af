#include "app/node_mode.h"

#include <gtest/gtest.h>

namespace codeflare {
namespace {

TEST(NodeMode, is_read_as_it_was_written) {
  for (const bool isolated : {true, false}) {
    for (const bool networked : {true, false}) {
      const NodeMode mode{.isolated = isolated, .networked = networked};
      const Result<NodeMode> read = parse_node_mode(to_text(mode));
      ASSERT_TRUE(read);
      EXPECT_EQ(*read, mode);
    }
  }
  EXPECT_FALSE(parse_node_mode(""));
  EXPECT_FALSE(parse_node_mode("isolated\n"));
}

TEST(NodeMode, the_first_start_takes_what_there_is) {
  EXPECT_TRUE(check_node_mode({}, {.mode = {}, .not_isolated = "forbidden"}));
}

TEST(NodeMode, later_ones_do_not_make_do_with_less) {
  const NodeMode all{.isolated = true, .networked = true};
  EXPECT_TRUE(check_node_mode(all, {.mode = all}));
  const auto plain = check_node_mode(all, {.mode = {}, .not_isolated = "operation not permitted"});
  ASSERT_FALSE(plain);
  EXPECT_TRUE(plain.error().message.contains("operation not permitted"));
  EXPECT_TRUE(plain.error().message.contains("--allow-plain-processes"));
  const auto shared =
      check_node_mode(all, {.mode = {.isolated = true}, .not_networked = "no bridge"});
  ASSERT_FALSE(shared);
  EXPECT_TRUE(shared.error().message.contains("no bridge"));
  // More is welcome.
  EXPECT_TRUE(check_node_mode(NodeMode{}, {.mode = all}));
}

}  // namespace
}  // namespace codeflare
