#include "tests/sched/naive_scheduler.h"
#include "tests/sched/random_world.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::sched {
namespace {

// Gangs run exactly to their limit, nodes and quotas stay as they are: then a reservation is a
// promise, and whoever passes the holder must not break it.
class HoldingWorld {
 public:
  explicit HoldingWorld(std::uint64_t seed) : dice_(seed) {}

  void run(int events) {
    for (int i = 1; i <= 4; ++i) {
      NodeSpec node = random_node(dice_, i);
      node.unschedulable = false;
      ASSERT_TRUE(core_.upsert_node(node));
      books_.upsert_node(node);
    }
    if (dice_.chance(50)) {
      const auto tree = random_tree(dice_);
      core_.set_quota_tree("team", tree);
      books_.set_quota_tree("team", tree);
    }
    for (int i = 0; i < events; ++i) {
      // Never two at once: the name would decide, and a later gang could come first.
      advance(now_ + std::chrono::seconds(dice_.roll(1, 8)));
      submit();
      decide();
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
    // Nobody comes any more: everything that can ever run does, and in time.
    while (!ends_.empty() && !::testing::Test::HasFailure()) {
      advance(ends_.begin()->first);
    }
  }

  int kept() const { return kept_; }

 private:
  void submit() {
    GangSpec spec = random_gang(dice_, gangs_++, now_);
    spec.priority = 0;  // nobody overtakes by rank, so promises stay with their holder
    spec.expected = {};
    spec.limit = std::chrono::seconds(dice_.roll(1, 40));
    limits_[spec.name] = spec.limit;
    ASSERT_TRUE(core_.submit(spec));
    books_.submit(spec);
  }

  void advance(Time to) {
    while (!ends_.empty() && ends_.begin()->first <= to) {
      now_ = ends_.begin()->first;
      while (!ends_.empty() && ends_.begin()->first == now_) {
        const std::string name = ends_.begin()->second;
        ends_.erase(ends_.begin());
        ASSERT_TRUE(core_.remove(*core_.find(name)));
        books_.remove(name);
      }
      decide();
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
    now_ = std::max(now_, to);
  }

  void decide() {
    const StepResult result = core_.step(now_);
    const auto sound = core_.check_invariants();
    ASSERT_TRUE(sound) << sound.error().message;
    for (const Admission& each : result.admitted) {
      const std::string name = core_.name(each.gang);
      naive::Places places;
      for (const Slot& slot : each.placement) {
        for (std::int64_t i = 0; i < slot.count; ++i) {
          places.emplace_back(slot.pod_set, core_.node_name(slot.node));
        }
      }
      EXPECT_TRUE(books_.quota_allows(name)) << name;
      books_.start(name, places, now_);
      EXPECT_EQ(books_.overfull_node(), "") << "after " << name;
      ends_.emplace(now_ + limits_[name], name);
      if (const auto promise = promised_.find(name); promise != promised_.end()) {
        EXPECT_LE(now_, promise->second) << name << " starts later than promised";
        ++kept_;
      }
    }
    remember_promise();
    check_waiting();
  }

  void remember_promise() {
    const auto held = core_.reservation();
    if (!held) {
      return;
    }
    ASSERT_TRUE(held->starts) << "every end is known here";
    const auto [promise, added] = promised_.emplace(held->holder, *held->starts);
    if (!added) {
      EXPECT_LE(*held->starts, std::max(promise->second, now_)) << held->holder;
    }
  }

  // A gang that waits although it would fit waits behind the reservation, and says so.
  void check_waiting() {
    for (const auto& [name, gang] : books_.gangs()) {
      if (gang.state != GangState::waiting || !books_.could_start(name)) {
        continue;
      }
      EXPECT_EQ(*core_.why(*core_.find(name)), Reason::reserved) << name;
    }
  }

  static Options options() {
    Options options;
    options.holding_time = std::chrono::hours(1000);
    options.search_steps_max = 1'000'000;
    return options;
  }

  Dice dice_;
  Core core_{options()};
  naive::Scheduler books_{options()};
  Time now_ = Time(std::chrono::seconds(1'700'000'000));
  std::multimap<Time, std::string> ends_;
  std::map<std::string, Duration> limits_;
  std::map<std::string, Time> promised_;
  int gangs_ = 0;
  int kept_ = 0;
};

TEST(ReservationProperty, nobody_who_passes_delays_the_holder) {
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HoldingWorld world(seed);
    world.run(25);
    kept += world.kept();
    if (::testing::Test::HasFailure()) {
      break;
    }
  }
  EXPECT_GT(kept, 500);
}

}  // namespace
}  // namespace codeflare::sched
