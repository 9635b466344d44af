#include "up/node_mode.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::up {
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

TEST(NodeMode, is_remembered_in_a_file) {
  SimEnv sim;
  const Env env = sim.env();
  ASSERT_TRUE(env.files.make_directories("/node"));
  const auto read = [&] { return *run(env.loop, read_node_mode(env, "/node/mode")); };
  ASSERT_TRUE(read());
  EXPECT_FALSE(read()->has_value());
  const NodeMode all{.isolated = true, .networked = true};
  ASSERT_TRUE(*run(env.loop, remember_node_mode(env, "/node/mode", std::nullopt, all)));
  ASSERT_TRUE(read());
  EXPECT_EQ(**read(), all);
  // An equal file is not written again.
  ASSERT_TRUE(env.files.remove("/node/mode"));
  ASSERT_TRUE(*run(env.loop, remember_node_mode(env, "/node/mode", all, all)));
  EXPECT_FALSE(env.files.exists("/node/mode"));
}

TEST(NodeMode, that_cannot_be_read_is_not_taken_for_the_first) {
  SimEnv sim;
  const Env env = sim.env();
  const auto read = [&] { return *run(env.loop, read_node_mode(env, "/node/mode")); };
  ASSERT_TRUE(env.files.make_directories("/node/mode"));
  EXPECT_FALSE(read());
  ASSERT_TRUE(env.files.remove("/node/mode"));
  ASSERT_TRUE(env.files.write("/node/mode", "of another version\n"));
  ASSERT_FALSE(read());
  EXPECT_TRUE(read().error().message.contains("/node/mode")) << read().error().message;
}

}  // namespace
}  // namespace codeflare::up
