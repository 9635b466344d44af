#include "sched/sizes.h"
#include "tests/sched/random_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sched {
namespace {

// The books of a caller of the core: the pods of a gang by node, from decisions alone.
struct Book {
  GangSpec spec;
  bool running = false;
  bool draining = false;
  std::map<std::string, std::int64_t> base;  // pods by node
  std::map<std::string, std::int64_t> grown;
  std::map<std::string, std::int64_t> leaving;

  static std::int64_t sum(const std::map<std::string, std::int64_t>& pods) {
    std::int64_t all = 0;
    for (const auto& [node, count] : pods) {
      all += count;
    }
    return all;
  }
  std::int64_t size() const { return sum(base) + sum(grown); }
  Amount cpu() const { return spec.pod_sets.front().requests.front().amount; }
  bool elastic() const { return spec.pod_sets.front().sizes.has_value(); }
  Sizes sizes() const {
    const PodSet& set = spec.pod_sets.front();
    return set.sizes ? *set.sizes : Sizes{.min = set.count, .max = set.count};
  }
};

// Random events against the core; a naive look at all books after each says what must hold.
class ElasticWorld {
 public:
  ElasticWorld(std::uint64_t seed, ElasticPolicy policy, bool preemption)
      : dice_(seed), core_(options(policy, preemption)), preemption_(preemption) {}

  void run(int events) {
    for (int i = 1; i <= 3; ++i) {
      add_node();
    }
    for (int i = 0; i < events && !::testing::Test::HasFailure(); ++i) {
      now_ += std::chrono::seconds(dice_.roll(0, 20));
      change();
      settle();
    }
  }

  int shrinks() const { return shrinks_; }
  int growths() const { return growths_; }

 private:
  static Options options(ElasticPolicy policy, bool preemption) {
    Options options;
    options.elastic_policy = policy;
    options.preemption = preemption;
    return options;
  }

  void change() {
    const auto what = dice_.roll(1, 100);
    if (what <= 45) {
      submit();
    } else if (what <= 65) {
      finish();
    } else if (what <= 75) {
      add_node();
    } else if (what <= 80) {
      remove_node();
    } else if (what <= 90) {
      change_bounds();
    } else if (what <= 95) {
      change_priority();
    } else {
      lose_pod();
    }
  }

  Sizes random_sizes() {
    Sizes sizes{.min = dice_.roll(1, 3)};
    if (dice_.chance(25)) {
      sizes.list = {sizes.min, sizes.min + 1, sizes.min + 3};
      sizes.max = sizes.list.back();
      return sizes;
    }
    sizes.step = dice_.roll(1, 2);
    sizes.max = sizes.min + sizes.step * dice_.roll(0, 4);
    return sizes;
  }

  void submit() {
    GangSpec spec{.name = "g" + std::to_string(next_++)};
    spec.priority = static_cast<std::int32_t>(dice_.roll(0, 2));
    spec.submitted = now_;
    spec.queue = dice_.chance(50) ? "a" : "b";
    PodSet set{.count = dice_.roll(1, 3), .requests = {{"cpu", dice_.roll(1, 2)}}};
    if (dice_.chance(70)) {
      set.sizes = random_sizes();
    }
    spec.pod_sets.push_back(set);
    ASSERT_TRUE(core_.submit(spec));
    books_[spec.name].spec = spec;
  }

  std::string any(bool running) {
    std::vector<std::string> names;
    for (const auto& [name, book] : books_) {
      if (book.running == running && !book.draining) {
        names.push_back(name);
      }
    }
    if (names.empty()) {
      return "";
    }
    return names[static_cast<std::size_t>(
        dice_.roll(0, static_cast<std::int64_t>(names.size()) - 1))];
  }

  GangId id(const std::string& name) { return *core_.find(name); }

  void finish() {
    const std::string name = any(true);
    if (!name.empty()) {
      ASSERT_TRUE(core_.remove(id(name)));
      books_.erase(name);
    }
  }

  void add_node() {
    NodeSpec node{.name = "n" + std::to_string(dice_.roll(1, 5))};
    // One that is known keeps its size: what is too much on a smaller one is nobody's growth.
    const auto known = nodes_.find(node.name);
    const Amount cpu = known == nodes_.end() ? dice_.roll(2, 8) : known->second;
    node.allocatable = {{"cpu", cpu}};
    ASSERT_TRUE(core_.upsert_node(node));
    nodes_[node.name] = cpu;
  }

  void remove_node() {
    if (nodes_.size() < 2) {
      return;
    }
    loose_ = true;
    const std::string name = nodes_.begin()->first;
    core_.remove_node(*core_.find_node(name));
    nodes_.erase(name);
    for (auto& [gang, book] : books_) {
      const std::int64_t base = book.base.contains(name) ? book.base.at(name) : 0;
      // Fixed gangs wait for a place for their lost pods, which this world does not give them.
      if (!book.elastic() && base > 0) {
        fixed_losers_.insert(gang);
      }
      book.base.erase(name);
      book.grown.erase(name);
      book.leaving.erase(name);
      promote(book);
    }
    for (const std::string& gang : std::exchange(fixed_losers_, {})) {
      ASSERT_TRUE(core_.remove(id(gang)));
      books_.erase(gang);
    }
  }

  void change_bounds() {
    const std::string name = any(dice_.chance(70));
    if (name.empty() || !books_.at(name).elastic()) {
      return;
    }
    const Sizes sizes = random_sizes();
    ASSERT_TRUE(core_.set_bounds(id(name), sizes));
    Book& book = books_.at(name);
    book.spec.pod_sets.front().sizes = sizes;
    loose_ = true;
    promote(book);
  }

  void change_priority() {
    const std::string name = any(dice_.chance(50));
    if (!name.empty()) {
      const auto priority = static_cast<std::int32_t>(dice_.roll(0, 2));
      ASSERT_TRUE(core_.set_priority(id(name), priority));
      books_.at(name).spec.priority = priority;
    }
  }

  // A pod that nobody asked to leave is gone.
  void lose_pod() {
    loose_ = true;
    const std::string name = any(true);
    if (name.empty() || !books_.at(name).elastic()) {
      return;
    }
    Book& book = books_.at(name);
    std::map<std::string, std::int64_t>& pods = book.grown.empty() ? book.base : book.grown;
    if (pods.empty()) {
      return;
    }
    const std::string node = pods.begin()->first;
    // Leaving pods are gone first, as the core cannot know which pod it was.
    if (book.leaving.contains(node)) {
      return;
    }
    const auto dropped = core_.drop_place(id(name), 0, core_.find_node(node));
    ASSERT_TRUE(dropped && *dropped);
    take(pods, node, 1);
    promote(book);
  }

  static void take(std::map<std::string, std::int64_t>& pods, const std::string& node,
                   std::int64_t count) {
    pods[node] -= count;
    if (pods[node] <= 0) {
      pods.erase(node);
    }
  }

  // Which pods are the minimum is the core's to choose; here only how many are.
  static void promote(Book& book) {
    while (Book::sum(book.base) < book.sizes().min && !book.grown.empty()) {
      const std::string node = book.grown.begin()->first;
      take(book.grown, node, 1);
      ++book.base[node];
    }
    while (Book::sum(book.base) > book.sizes().min) {
      const std::string node = book.base.begin()->first;
      take(book.base, node, 1);
      ++book.grown[node];
    }
  }

  // Decisions come to an end, whatever leaves first.
  void settle() {
    for (int round = 0;; ++round) {
      ASSERT_LT(round, 3000) << "decisions do not end";
      Core twin = core_.clone();
      const StepResult result = core_.step(now_);
      const StepResult same = twin.step(now_);
      EXPECT_EQ(result.resized.size(), same.resized.size()) << "a copy decides otherwise";
      const auto sound = core_.check_invariants();
      ASSERT_TRUE(sound) << sound.error().message;
      write_down(result);
      if (::testing::Test::HasFailure()) {
        return;
      }
      check_capacity();
      if (!let_something_go() && !result.more) {
        break;
      }
    }
    check_quiet();
  }

  void write_down(const StepResult& result) {
    for (const Admission& each : result.admitted) {
      Book& book = books_.at(core_.name(each.gang));
      book.running = true;
      for (const Slot& slot : each.placement) {
        book.base[core_.node_name(slot.node)] += slot.count;
      }
      EXPECT_EQ(Book::sum(book.base), book.sizes().min) << core_.name(each.gang);
    }
    for (const Resize& each : result.resized) {
      write_down(each);
    }
    for (const Eviction& each : result.evicted) {
      Book& victim = books_.at(core_.name(each.victim));
      const Book& winner = books_.at(core_.name(each.for_gang));
      victim.draining = true;
      EXPECT_LT(victim.spec.priority, winner.spec.priority);
      EXPECT_TRUE(preemption_ || (victim.elastic() && winner.elastic()));
    }
  }

  void write_down(const Resize& resize) {
    Book& book = books_.at(core_.name(resize.gang));
    EXPECT_TRUE(book.running) << core_.name(resize.gang);
    for (const Slot& slot : resize.more) {
      ++growths_;
      book.grown[core_.node_name(slot.node)] += slot.count;
    }
    for (const Slot& slot : resize.less) {
      ++shrinks_;
      const std::string& node = core_.node_name(slot.node);
      for (std::int64_t i = 0; i < slot.count; ++i) {
        // After bounds or losses base and growth may be swapped in our books.
        take(book.grown.contains(node) ? book.grown : book.base, node, 1);
        ++book.leaving[node];
      }
    }
    promote(book);
    if (resize.for_gang && !resize.less.empty()) {
      const Book& winner = books_.at(core_.name(*resize.for_gang));
      EXPECT_LE(book.spec.priority, winner.spec.priority) << "growth of higher priority was taken";
    }
  }

  // Some of what is on its way out is gone. False: nothing was.
  bool let_something_go() {
    bool any = false;
    for (auto& [name, book] : books_) {
      if (book.draining) {
        any = true;
        if (dice_.chance(70)) {
          EXPECT_TRUE(core_.requeue(id(name), now_));
          book = Book{.spec = book.spec};
        }
        continue;
      }
      const auto leaving = book.leaving;
      for (const auto& [node, count] : leaving) {
        any = true;
        const std::int64_t gone = dice_.roll(0, count);
        for (std::int64_t i = 0; i < gone; ++i) {
          const auto dropped = core_.drop_place(id(name), 0, core_.find_node(node));
          EXPECT_TRUE(dropped && *dropped) << name << " on " << node;
          take(book.leaving, node, 1);
        }
      }
    }
    return any;
  }

  void check_capacity() {
    std::map<std::string, Amount> used;
    for (const auto& [name, book] : books_) {
      for (const auto* pods : {&book.base, &book.grown, &book.leaving}) {
        for (const auto& [node, count] : *pods) {
          used[node] += count * book.cpu();
        }
      }
    }
    for (const auto& [node, amount] : used) {
      EXPECT_LE(amount, nodes_.contains(node) ? nodes_.at(node) : 0) << "on " << node;
    }
  }

  // Free on every node, and with it the growth of those that `gives`.
  template <typename Gives>
  std::map<std::string, Amount> room(Gives&& gives) const {
    std::map<std::string, Amount> left = nodes_;
    for (const auto& [name, book] : books_) {
      for (const auto& [node, count] : book.base) {
        left[node] -= count * book.cpu();
      }
      for (const auto& [node, count] : book.grown) {
        left[node] -= gives(book) ? 0 : count * book.cpu();
      }
    }
    return left;
  }

  static bool fits(const std::map<std::string, Amount>& room, Amount cpu, std::int64_t pods) {
    for (const auto& [node, free] : room) {
      pods -= std::max<Amount>(free, 0) / cpu;
    }
    return pods <= 0;
  }

  void check_quiet() {
    const StepResult again = core_.step(now_);
    for (const Admission& each : again.admitted) {
      ADD_FAILURE() << "nothing has changed, but " << core_.name(each.gang) << " is admitted";
    }
    EXPECT_TRUE(again.evicted.empty()) << "nothing has changed, but somebody is evicted";
    for (const Resize& each : again.resized) {
      ADD_FAILURE() << "nothing has changed, but " << core_.name(each.gang) << " is resized by +"
                    << each.more.size() << " -" << each.less.size();
    }
    const auto free = room([](const Book&) { return false; });
    for (const auto& [name, book] : books_) {
      SCOPED_TRACE(name);
      if (!book.running) {
        check_waiting(book);
        continue;
      }
      const std::int64_t size = book.size();
      const auto told = core_.size(id(name));
      EXPECT_EQ(told ? told->planned : size, size);
      EXPECT_LE(size, book.sizes().max);
      if (size >= book.sizes().min) {
        EXPECT_EQ(size, size_within(book.sizes(), size)) << "a size that is not allowed";
      }
      check_growth(book, free);
    }
  }

  void check_waiting(const Book& book) const {
    const auto could_have = room(
        [&](const Book& other) { return !loose_ && other.spec.priority <= book.spec.priority; });
    EXPECT_FALSE(fits(could_have, book.cpu(), book.sizes().min)) << "waits beside what it may take";
  }

  void check_growth(const Book& book, const std::map<std::string, Amount>& free) const {
    const std::int64_t next = size_above(book.sizes(), book.size());
    if (next == 0) {
      return;
    }
    const std::int64_t more = next - book.size();
    EXPECT_FALSE(fits(free, book.cpu(), more)) << "does not grow although there is room";
    const auto could_have = room(
        [&](const Book& other) { return !loose_ && other.spec.priority < book.spec.priority; });
    EXPECT_FALSE(fits(could_have, book.cpu(), more)) << "a lower priority keeps its growth";
  }

  Dice dice_;
  Core core_;
  bool preemption_;
  Time now_ = Time(std::chrono::seconds(1'700'000'000));
  int next_ = 0;
  int shrinks_ = 0;
  int growths_ = 0;
  bool loose_ = false;  // minima may not be where our books have them
  std::map<std::string, Amount> nodes_;
  std::map<std::string, Book> books_;
  std::set<std::string> fixed_losers_;
};

struct Seen {
  int shrinks = 0;
  int growths = 0;
};

Seen run_seeds(std::uint64_t first, std::uint64_t count, ElasticPolicy policy,
               bool preemption = false) {
  Seen seen;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ElasticWorld world(seed, policy, preemption);
    world.run(30);
    seen.shrinks += world.shrinks();
    seen.growths += world.growths();
    if (::testing::Test::HasFailure()) {
      break;
    }
  }
  return seen;
}

// A few seeds, so that every run of the tests has time for them; each range has those that once
// failed: 10'042 (trades without end), 20'343 and 30'254 (growth whose priority had just fallen).

TEST(ElasticProperty, strict_priority_keeps_all_promises) {
  const Seen seen = run_seeds(1, 60, ElasticPolicy::strict_priority);
  EXPECT_GT(seen.shrinks, 40);
  EXPECT_GT(seen.growths, 120);
}

TEST(ElasticProperty, fair_keeps_all_promises) {
  EXPECT_GT(run_seeds(10'000, 60, ElasticPolicy::fair).shrinks, 40);
}

TEST(ElasticProperty, throughput_keeps_all_promises) {
  EXPECT_GT(run_seeds(20'300, 60, ElasticPolicy::throughput).shrinks, 40);
}

TEST(ElasticProperty, preemption_beside_growth_ends) {
  EXPECT_GT(run_seeds(30'200, 60, ElasticPolicy::strict_priority, true).shrinks, 30);
}

}  // namespace
}  // namespace codeflare::sched
