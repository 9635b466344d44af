#include "tests/sched/naive_scheduler.h"
#include "tests/sched/random_world.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace codeflare::sched {
namespace {

// The core and the simple scheduler side by side: the same events, the same decisions.
class TwinWorld {
 public:
  TwinWorld(std::uint64_t seed, Options options)
      : dice_(seed), core_(exact(options)), naive_(exact(options)) {}

  void run(int events) {
    const int nodes = static_cast<int>(dice_.roll(1, 5));
    for (int i = 0; i < nodes; ++i) {
      add_node();
    }
    if (dice_.chance(60)) {
      change_quota();
    }
    for (int i = 0; i < events; ++i) {
      now_ += std::chrono::seconds(dice_.roll(0, 5));
      const auto batch = dice_.roll(1, 3);
      for (int j = 0; j < batch; ++j) {
        change();
      }
      compare();
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
  }

 private:
  // Searches end by themselves in worlds this small, so both are exact.
  static Options exact(Options options) {
    options.search_steps_max = 1'000'000;
    return options;
  }

  void change() {
    const auto what = dice_.roll(1, 100);
    if (what <= 45) {
      submit();
    } else if (what <= 70) {
      leave(true);
    } else if (what <= 76) {
      leave(false);
    } else if (what <= 82) {
      add_node();
    } else if (what <= 86) {
      remove_node();
    } else if (what <= 93) {
      foreign();
    } else {
      change_quota();
    }
  }

  void submit() {
    const GangSpec spec = random_gang(dice_, gangs_++, now_);
    ASSERT_TRUE(core_.submit(spec));
    naive_.submit(spec);
  }

  std::string any(bool running) {
    std::vector<std::string> names;
    for (const auto& [name, gang] : naive_.gangs()) {
      if ((gang.state == GangState::running) == running) {
        names.push_back(name);
      }
    }
    if (names.empty()) {
      return "";
    }
    return names[static_cast<std::size_t>(
        dice_.roll(0, static_cast<std::int64_t>(names.size()) - 1))];
  }

  void leave(bool running) {
    const std::string name = any(running);
    if (name.empty()) {
      return;
    }
    if (running && dice_.chance(20)) {
      ASSERT_TRUE(core_.requeue(*core_.find(name), now_));
      naive_.requeue(name);
      return;
    }
    ASSERT_TRUE(core_.remove(*core_.find(name)));
    naive_.remove(name);
  }

  // New, or an old one with other labels, taints and amounts.
  void add_node() {
    const NodeSpec node = random_node(dice_, static_cast<int>(dice_.roll(1, 6)));
    ASSERT_TRUE(core_.upsert_node(node));
    naive_.upsert_node(node);
    nodes_[node.name] = true;
  }

  std::string any_node() {
    if (nodes_.empty()) {
      return "";
    }
    auto place = nodes_.begin();
    std::advance(place, dice_.roll(0, static_cast<std::int64_t>(nodes_.size()) - 1));
    return place->first;
  }

  void remove_node() {
    const std::string name = any_node();
    if (name.empty()) {
      return;
    }
    core_.remove_node(*core_.find_node(name));
    naive_.remove_node(name);
    nodes_.erase(name);
  }

  void foreign() {
    const std::string name = any_node();
    if (name.empty()) {
      return;
    }
    const Resources usage = random_foreign(dice_);
    ASSERT_TRUE(core_.set_foreign(*core_.find_node(name), usage));
    naive_.set_foreign(name, usage);
  }

  void change_quota() {
    const auto tree = random_tree(dice_);
    core_.set_quota_tree("team", tree);
    naive_.set_quota_tree("team", tree);
  }

  void compare() {
    const StepResult result = core_.step(now_);
    const naive::Decisions expected = naive_.step(now_);
    std::map<std::string, std::multiset<std::pair<std::uint32_t, std::string>>> admitted;
    for (const Admission& each : result.admitted) {
      auto& places = admitted[core_.name(each.gang)];
      for (const Slot& slot : each.placement) {
        for (std::int64_t i = 0; i < slot.count; ++i) {
          places.emplace(slot.pod_set, core_.node_name(slot.node));
        }
      }
    }
    EXPECT_EQ(admitted, expected.admitted);
    const auto sound = core_.check_invariants();
    ASSERT_TRUE(sound) << sound.error().message;
    for (const auto& [name, gang] : naive_.gangs()) {
      if (gang.state != GangState::waiting) {
        continue;
      }
      EXPECT_FALSE(naive_.could_start(name)) << name << " waits but could start";
      EXPECT_NE(*core_.why(*core_.find(name)), Reason::none) << name << " waits without a reason";
    }
    if (dice_.chance(30)) {
      compare_reasons();
    }
  }

  // After a review everybody waits for what a trial of everybody would find now.
  void compare_reasons() {
    while (core_.reasons_stale()) {
      (void)core_.review(now_);
    }
    Core tried = core_.clone();
    tried.set_paused(true);
    tried.set_paused(false);
    EXPECT_TRUE(tried.step(now_).admitted.empty());
    for (const auto& [name, gang] : naive_.gangs()) {
      if (gang.state != GangState::waiting) {
        continue;
      }
      const Reason why = *core_.why(*core_.find(name));
      const Reason now = *tried.why(*tried.find(name));
      // A gang that waits for places does not report that others have used up its quota meanwhile.
      if (now == Reason::insufficient_quota && why != Reason::insufficient_quota) {
        continue;
      }
      EXPECT_EQ(std::string(to_string(why)), to_string(now)) << name;
    }
  }

  Dice dice_;
  Core core_;
  naive::Scheduler naive_;
  Time now_ = Time(std::chrono::seconds(1'700'000'000));
  int gangs_ = 0;
  std::map<std::string, bool> nodes_;
};

void run_seeds(Options options, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TwinWorld(seed, options).run(25);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(Property, decides_like_the_simple_scheduler) {
  run_seeds({}, 1, 2000);
}

TEST(Property, decides_like_the_simple_scheduler_with_slopes) {
  run_seeds({.priority_slope = true}, 100'000, 500);
}

TEST(Property, decides_like_the_simple_scheduler_packing_by_memory) {
  run_seeds({.pack = {"memory"}}, 200'000, 500);
}

}  // namespace
}  // namespace codeflare::sched
