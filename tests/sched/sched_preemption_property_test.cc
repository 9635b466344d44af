#include "tests/sched/naive_scheduler.h"
#include "tests/sched/random_world.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace codeflare::sched {
namespace {

// Random events with preemption on. The simple scheduler only keeps the books and checks them.
class PreemptionWorld {
 public:
  PreemptionWorld(std::uint64_t seed, bool with_quota) : dice_(seed), with_quota_(with_quota) {}

  void run(int events) {
    for (int i = 1; i <= 3; ++i) {
      NodeSpec node = random_node(dice_, i);
      ASSERT_TRUE(core_.upsert_node(node));
      books_.upsert_node(node);
    }
    if (with_quota_) {
      const auto tree = random_tree(dice_);
      core_.set_quota_tree("team", tree);
      books_.set_quota_tree("team", tree);
    }
    for (int i = 0; i < events; ++i) {
      now_ += std::chrono::seconds(1);
      if (dice_.chance(65)) {
        submit();
      } else {
        finish();
      }
      settle();
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
  }

  int evictions() const { return evictions_; }

 private:
  void submit() {
    const GangSpec spec = random_gang(dice_, gangs_++, now_);
    ASSERT_TRUE(core_.submit(spec));
    books_.submit(spec);
  }

  void finish() {
    std::vector<std::string> running;
    for (const auto& [name, gang] : books_.gangs()) {
      if (gang.state == GangState::running) {
        running.push_back(name);
      }
    }
    if (running.empty()) {
      return;
    }
    const auto which = dice_.roll(0, static_cast<std::int64_t>(running.size()) - 1);
    const std::string& name = running[static_cast<std::size_t>(which)];
    ASSERT_TRUE(core_.remove(*core_.find(name)));
    books_.remove(name);
  }

  // Between two outside events decisions must come to an end; victims leave one by one or at once.
  void settle() {
    std::vector<GangId> leaving;
    const auto most = 20 * (books_.gangs().size() + 1) * (books_.gangs().size() + 1);
    for (std::size_t rounds = 0;; ++rounds) {
      ASSERT_LT(rounds, most) << "decisions do not end";
      const StepResult result = core_.step(now_);
      const auto sound = core_.check_invariants();
      ASSERT_TRUE(sound) << sound.error().message;
      for (const Admission& each : result.admitted) {
        admit(each);
      }
      if (::testing::Test::HasFailure()) {
        return;
      }
      for (const Eviction& each : result.evicted) {
        ++evictions_;
        leaving.push_back(each.victim);
      }
      if (leaving.empty()) {
        break;
      }
      const bool all = dice_.chance(50);
      do {
        books_.requeue(core_.name(leaving.back()));
        ASSERT_TRUE(core_.requeue(leaving.back(), now_));
        leaving.pop_back();
      } while (all && !leaving.empty());
    }
    check_quiet();
  }

  void admit(const Admission& admission) {
    naive::Places places;
    for (const Slot& slot : admission.placement) {
      for (std::int64_t i = 0; i < slot.count; ++i) {
        places.emplace_back(slot.pod_set, core_.node_name(slot.node));
      }
    }
    const std::string& name = core_.name(admission.gang);
    EXPECT_TRUE(books_.quota_allows(name)) << name << " was admitted over quota";
    books_.start(name, places, now_);
    EXPECT_EQ(books_.overfull_node(), "") << "after " << name;
  }

  void check_quiet() {
    for (const auto& [name, gang] : books_.gangs()) {
      if (gang.state != GangState::waiting) {
        continue;
      }
      EXPECT_FALSE(books_.could_start(name)) << name << " waits but could start";
      EXPECT_EQ(*core_.state(*core_.find(name)), GangState::waiting) << name;
      // Without quotas priority alone decides: whoever would fit without weaker gangs, starts.
      if (with_quota_) {
        continue;
      }
      naive::Scheduler without_weaker = books_;
      for (const auto& [other, running] : books_.gangs()) {
        if (running.state == GangState::running && running.spec.priority < gang.spec.priority) {
          without_weaker.requeue(other);
        }
      }
      EXPECT_FALSE(without_weaker.could_start(name)) << name << " could evict its way in";
    }
  }

  static Options options() {
    Options options;
    options.preemption = true;
    options.search_steps_max = 1'000'000;
    return options;
  }

  Dice dice_;
  bool with_quota_;
  Core core_{options()};
  naive::Scheduler books_{options()};
  Time now_ = Time(std::chrono::seconds(1'700'000'000));
  int gangs_ = 0;
  int evictions_ = 0;
};

int run_seeds(std::uint64_t first, std::uint64_t count, bool with_quota) {
  int evictions = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    PreemptionWorld world(seed, with_quota);
    world.run(25);
    evictions += world.evictions();
    if (::testing::Test::HasFailure()) {
      break;
    }
  }
  return evictions;
}

TEST(PreemptionProperty, priority_evictions_end_and_leave_nobody_out) {
  EXPECT_GT(run_seeds(1, 800, false), 200);
}

TEST(PreemptionProperty, quota_evictions_end_and_admit_nobody_over_quota) {
  EXPECT_GT(run_seeds(10'000, 1200, true), 200);
}

}  // namespace
}  // namespace codeflare::sched
