#include "base/async/stop_token.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace codeflare {
namespace {

TEST(StopToken, a_default_token_never_stops) {
  StopToken token;
  EXPECT_FALSE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  StopCallback callback(token, [] { FAIL(); });
}

TEST(StopToken, stops_once_and_for_good) {
  StopSource source;
  StopToken token = source.token();
  int calls = 0;
  StopCallback callback(token, [&] { ++calls; });
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  source.request_stop();
  source.request_stop();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(source.stop_requested());
  EXPECT_EQ(calls, 1);
}

TEST(StopToken, outlives_its_source) {
  std::optional<StopSource> source(std::in_place);
  StopToken token = source->token();
  StopCallback callback(token, [] { FAIL(); });
  source.reset();
  EXPECT_FALSE(token.stop_requested());
}

TEST(StopCallback, runs_at_once_when_the_token_has_stopped) {
  StopSource source;
  source.request_stop();
  bool ran = false;
  StopCallback callback(source.token(), [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(StopCallback, runs_in_order_of_registration) {
  StopSource source;
  std::vector<int> order;
  StopCallback one(source.token(), [&] { order.push_back(1); });
  StopCallback two(source.token(), [&] { order.push_back(2); });
  StopCallback three(source.token(), [&] { order.push_back(3); });
  source.request_stop();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(StopCallback, is_not_run_after_it_is_destroyed) {
  StopSource source;
  std::vector<int> order;
  std::optional<StopCallback> first(std::in_place, source.token(), [&] { order.push_back(1); });
  std::optional<StopCallback> middle(std::in_place, source.token(), [&] { order.push_back(2); });
  std::optional<StopCallback> last(std::in_place, source.token(), [&] { order.push_back(3); });
  StopCallback kept(source.token(), [&] { order.push_back(4); });
  middle.reset();
  first.reset();
  last.reset();
  source.request_stop();
  EXPECT_EQ(order, std::vector{4});
}

TEST(StopCallback, may_destroy_itself_and_others_and_the_source_while_running) {
  auto source = std::make_unique<StopSource>();
  StopToken token = source->token();
  std::vector<int> order;
  std::optional<StopCallback> self;
  std::optional<StopCallback> before;
  std::optional<StopCallback> after;
  before.emplace(token, [&] { order.push_back(1); });
  self.emplace(token, [&] {
    order.push_back(2);
    before.reset();
    after.reset();
    self.reset();
    source.reset();
  });
  after.emplace(token, [&] { order.push_back(3); });
  StopCallback last(token, [&] { order.push_back(4); });
  source->request_stop();
  EXPECT_EQ(order, (std::vector{1, 2, 4}));
  EXPECT_TRUE(token.stop_requested());
}

TEST(StopCallback, added_while_others_run_runs_at_once) {
  StopSource source;
  std::vector<int> order;
  std::optional<StopCallback> late;
  StopCallback first(source.token(), [&] {
    late.emplace(source.token(), [&] { order.push_back(1); });
    order.push_back(2);
  });
  StopCallback second(source.token(), [&] { order.push_back(3); });
  source.request_stop();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(StopSource, stops_when_its_parent_does_but_not_the_other_way_round) {
  StopSource parent;
  StopSource child(parent.token());
  StopSource grandchild(child.token());
  child.request_stop();
  EXPECT_FALSE(parent.stop_requested());
  EXPECT_TRUE(grandchild.stop_requested());
  StopSource other(parent.token());
  parent.request_stop();
  EXPECT_TRUE(other.stop_requested());
  StopSource late(parent.token());
  EXPECT_TRUE(late.stop_requested());
}

TEST(StopSource, keeps_its_tokens_when_moved) {
  StopSource parent;
  StopSource source(parent.token());
  StopToken token = source.token();
  StopSource moved = std::move(source);
  parent.request_stop();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(moved.stop_requested());
}

TEST(StopSource, leaves_its_parent_when_destroyed) {
  StopSource parent;
  {
    StopSource child(parent.token());
  }
  parent.request_stop();
  EXPECT_TRUE(parent.stop_requested());
}

}  // namespace
}  // namespace codeflare
