#include "net/body_budget.h"

#include "base/env/sim_env.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace codeflare::net {
namespace {

constexpr std::size_t kFree = BodyBudget::kFreeBytes;

using Read = Result<std::string>;

// Pieces that are there, and then what the budget holds while the end is awaited.
class LookedAt final : public BodyStream {
 public:
  LookedAt(std::vector<std::string> pieces, const BodyBudget& budget, std::size_t& seen)
      : pieces_(std::move(pieces)), budget_(budget), seen_(seen) {}
  Task<Result<Bytes>> read() override {
    seen_ = budget_.held();
    if (next_ == pieces_.size()) {
      co_return Bytes();
    }
    co_return Bytes::from(pieces_[next_++]);
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t next_ = 0;
  const BodyBudget& budget_;
  std::size_t& seen_;
};

Read read(BodyBudget& budget, std::vector<std::string> pieces, std::size_t& held_at_end) {
  SimEnv sim;
  Body body = std::make_unique<LookedAt>(std::move(pieces), budget, held_at_end);
  return *run(sim.env().loop, read_all(std::move(body), 1u << 20, budget));
}

TEST(BodyBudget, a_small_body_is_free) {
  BodyBudget none(0);
  std::size_t held = 1;
  const Read text = read(none, {std::string(kFree - 1, 'x'), "y"}, held);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->size(), kFree);
  EXPECT_EQ(held, 0u);
}

TEST(BodyBudget, a_larger_body_is_charged_with_what_it_takes_until_it_has_ended) {
  BodyBudget budget(1u << 20);
  std::size_t held = 0;
  const Read text = read(budget, {std::string(kFree, 'x'), "y"}, held);
  ASSERT_TRUE(text.has_value());
  EXPECT_GT(held, kFree);
  EXPECT_LE(held, 2 * (kFree + 1));
  EXPECT_EQ(budget.held(), 0u);
}

TEST(BodyBudget, one_byte_more_than_there_is_is_refused_and_gives_back_what_it_had) {
  BodyBudget budget(kFree);
  std::size_t held = 0;
  const Read text = read(budget, {std::string(kFree, 'x'), "y"}, held);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(budget.held(), 0u);
}

TEST(BodyBudget, the_limit_of_one_body_is_another_error) {
  BodyBudget budget(1u << 20);
  SimEnv sim;
  Body body = std::make_unique<testing::ListBody>(std::vector<std::string>{"ab", "c"});
  const Read text = *run(sim.env().loop, read_all(std::move(body), 2, budget));
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::too_large);
}

TEST(BodyBudget, no_body_is_an_empty_one) {
  BodyBudget none(0);
  SimEnv sim;
  EXPECT_EQ(**run(sim.env().loop, read_all(nullptr, 0, none)), "");
}

TEST(BodyBudget, is_shared_by_those_who_read_at_the_same_time) {
  BodyBudget budget(100);
  BodyBudget::Charge other(budget);
  {
    BodyBudget::Charge first(budget);
    EXPECT_TRUE(first.grow_to(60));
    EXPECT_TRUE(first.grow_to(40)) << "it has more already";
    EXPECT_FALSE(other.grow_to(41));
    EXPECT_TRUE(other.grow_to(40));
    EXPECT_FALSE(first.grow_to(61));
    EXPECT_EQ(budget.held(), 100u);
  }
  EXPECT_EQ(budget.held(), 40u);
  EXPECT_TRUE(other.grow_to(100));
}

}  // namespace
}  // namespace codeflare::net
