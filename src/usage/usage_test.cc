#include "base/env/sim_env.h"
#include "usage/interval.h"
#include "usage/ledger.h"
#include "usage/units.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace codeflare::usage {
namespace {

WallTime at(std::int64_t milliseconds) {
  return WallTime(std::chrono::milliseconds(milliseconds));
}

model::Pod ended(std::int64_t begin_ms, std::int64_t end_ms) {
  model::Pod pod;
  model::ContainerStatus container;
  container.state.terminated.emplace();
  container.state.terminated->started_at = at(begin_ms);
  container.state.terminated->finished_at = at(end_ms);
  pod.status.container_statuses.push_back(container);
  return pod;
}

model::Pod running(std::int64_t begin_ms) {
  model::Pod pod;
  model::ContainerStatus container;
  container.state.running.emplace();
  container.state.running->started_at = at(begin_ms);
  pod.status.container_statuses.push_back(container);
  return pod;
}

TEST(Interval, is_what_the_node_reported_in_whole_seconds) {
  EXPECT_EQ(interval_of(ended(1'900, 7'100), std::nullopt)->seconds(), 6);
  EXPECT_FALSE(interval_of(model::Pod(), std::nullopt));
  EXPECT_FALSE(interval_of(model::Pod(), at(5'000)));
}

TEST(Interval, of_a_lost_node_ends_at_its_last_heartbeat) {
  EXPECT_FALSE(interval_of(running(1'000), std::nullopt));
  EXPECT_EQ(interval_of(running(1'000), at(31'000))->seconds(), 30);
  // A container that ended before the node was lost keeps its own end.
  EXPECT_EQ(interval_of(ended(1'000, 5'000), at(31'000))->seconds(), 4);
}

TEST(Interval, is_never_negative) {
  EXPECT_EQ(interval_of(ended(9'000, 5'000), std::nullopt)->seconds(), 0);
  EXPECT_EQ(interval_of(running(9'000), at(5'000))->seconds(), 0);
}

TEST(Ledger, counts_a_pod_once_and_releases_it) {
  const ObservedPod pod{.uid = "p1",
                        .queue = "default",
                        .is_over = true,
                        .interval = Interval{.begin = 10, .end = 70},
                        .units = {{"nvidia.com/gpu", 4}}};
  const Account account{.queue = "default", .resource = "nvidia.com/gpu"};
  const Step first = count({}, {pod});
  EXPECT_EQ(first.ledger.totals.at(account), 240);
  EXPECT_EQ(first.release, std::vector<std::string>{"p1"});
  const Step again = count(first.ledger, {pod});
  EXPECT_EQ(again.ledger, first.ledger);
  EXPECT_EQ(again.release, first.release);
  const Step gone = count(again.ledger, {});
  EXPECT_EQ(gone.ledger.totals.at(account), 240);
  EXPECT_TRUE(gone.ledger.counted.empty());
}

TEST(Ledger, waits_for_pods_that_are_not_over) {
  const Step step = count({}, {{.uid = "p1", .is_over = false}});
  EXPECT_EQ(step.ledger, Ledger());
  EXPECT_TRUE(step.release.empty());
}

TEST(Ledger, reads_back_what_was_written) {
  Ledger ledger;
  ledger.totals[{.queue = "a", .resource = "node"}] = 5;
  ledger.totals[{.queue = "b", .resource = "cpu"}] = 7;
  ledger.days["2026-11-18"] = ledger.totals;
  ledger.jobs["u-1"] = {.name = "bert", .last_end = 12, .totals = ledger.totals};
  ledger.counted = {"x", "y"};
  EXPECT_EQ(parse_ledger(ledger_text(ledger)).value(), ledger);
  EXPECT_FALSE(parse_ledger(R"({"totals":[{"unitSeconds":-1}]})"));
  EXPECT_EQ(parse_ledger("{}").value(), Ledger());
}

TEST(Ledger, splits_an_interval_by_day_without_losing_a_second) {
  const std::int64_t midnight = 20'000 * std::int64_t{86'400};
  const auto days = by_day({.begin = midnight - 10, .end = midnight + 86'400 + 5});
  EXPECT_EQ(days, (std::map<std::string, std::int64_t>{
                      {"2024-10-03", 10}, {"2024-10-04", 86'400}, {"2024-10-05", 5}}));
  EXPECT_TRUE(by_day({.begin = 7, .end = 7}).empty());
}

TEST(Ledger, keeps_totals_by_day_and_job) {
  const Step step = count({}, {{.uid = "p1",
                                .queue = "q",
                                .job_uid = "j1",
                                .job_name = "bert",
                                .is_over = true,
                                .interval = Interval{.begin = 86'390, .end = 86'420},
                                .units = {{"gpu", 2}}}});
  const Account account{.queue = "q", .resource = "gpu"};
  EXPECT_EQ(step.ledger.days.at("1970-01-01").at(account), 20);
  EXPECT_EQ(step.ledger.days.at("1970-01-02").at(account), 40);
  EXPECT_EQ(step.ledger.jobs.at("j1").totals.at(account), 60);
  EXPECT_EQ(step.ledger.jobs.at("j1").last_end, 86'420);
}

TEST(Ledger, forgets_the_detail_of_old_days_and_gone_jobs_but_no_total) {
  Ledger ledger;
  for (int i = 0; i < 5; ++i) {
    ledger.days["2026-01-0" + std::to_string(i + 1)];
    ledger.jobs["j" + std::to_string(i)].last_end = i;
  }
  ledger.totals[{.queue = "q", .resource = "gpu"}] = 9;
  forget_old(ledger, {"j0"}, {.days = 2, .gone_jobs = 1});
  EXPECT_EQ(ledger.days.size(), 2U);
  EXPECT_TRUE(ledger.days.contains("2026-01-05"));
  EXPECT_EQ(ledger.jobs.size(), 2U);
  EXPECT_TRUE(ledger.jobs.contains("j0")) << "it exists";
  EXPECT_TRUE(ledger.jobs.contains("j4")) << "it ended last";
  EXPECT_EQ(ledger.totals.size(), 1U);
}

TEST(Units, are_whole_numbers_of_what_the_pod_requests) {
  model::PodSpec spec;
  model::Container& container = spec.containers.emplace_back();
  container.resources.requests = {{"cpu", model::Quantity::milli(1500)},
                                  {"memory", model::Quantity((1 << 20) + 1)},
                                  {"nvidia.com/gpu", model::Quantity(4)},
                                  {"ephemeral-storage", model::Quantity(7)}};
  EXPECT_EQ(units_of(spec),
            (std::map<std::string, std::int64_t>{
                {"memory-mib", 2}, {"millicpu", 1500}, {"nvidia.com/gpu", 4}, {"workers", 1}}));
}

// A controller that dies after any of its writes, and a cache that lags behind.
class Counting {
 public:
  explicit Counting(std::uint64_t seed) : world_({.seed = seed}) {}

  void run() {
    for (int turn = 0; turn < 400; ++turn) {
      if (below(3) == 0) {
        start_pod();
      }
      reconcile();
    }
    for (int turn = 0; turn < 20; ++turn) {
      cache_ = pods_;
      cached_ledger_ = {ledger_, version_};
      work(100);
    }
  }
  std::int64_t expected() const { return expected_; }
  std::int64_t counted() const {
    const auto found = ledger_.totals.find({.queue = "q", .resource = "gpu"});
    return found == ledger_.totals.end() ? 0 : found->second;
  }
  bool at_rest() const { return pods_.empty() && ledger_.counted.empty(); }

 private:
  std::uint64_t below(std::uint64_t bound) { return world_.env().random.below(bound); }

  void start_pod() {
    const auto seconds = static_cast<std::int64_t>(below(1000));
    const auto units = static_cast<std::int64_t>(1 + below(8));
    const std::string uid = "pod-" + std::to_string(++made_);
    pods_[uid] = {.uid = uid,
                  .queue = "q",
                  .is_over = true,
                  .interval = Interval{.begin = 100, .end = 100 + seconds},
                  .units = {{"gpu", units}}};
    expected_ += seconds * units;
  }
  void reconcile() {
    if (below(2) == 0) {
      cache_ = pods_;
    }
    if (below(2) == 0) {
      cached_ledger_ = {ledger_, version_};
    }
    work(below(4));
  }
  // At most so many writes, then the controller is killed.
  void work(std::uint64_t writes) {
    std::vector<ObservedPod> observed;
    for (const auto& [uid, pod] : cache_) {
      observed.push_back(pod);
    }
    const Step step = count(cached_ledger_.first, observed);
    if (step.ledger != cached_ledger_.first) {
      if (writes-- == 0 || cached_ledger_.second != version_) {
        return;  // killed, or a conflict
      }
      ledger_ = step.ledger;
      ++version_;
    } else if (cached_ledger_.second != version_) {
      return;  // the finalizers go only after the newest ledger was seen
    }
    for (const std::string& uid : step.release) {
      if (writes-- == 0) {
        return;
      }
      pods_.erase(uid);
    }
  }

  SimEnv world_;
  int made_ = 0;
  std::map<std::string, ObservedPod> pods_;
  std::map<std::string, ObservedPod> cache_;
  Ledger ledger_;
  int version_ = 0;
  std::pair<Ledger, int> cached_ledger_;
  std::int64_t expected_ = 0;
};

TEST(Ledger, equals_an_independent_sum_whoever_dies_in_between) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Counting counting(seed);
    counting.run();
    ASSERT_EQ(counting.counted(), counting.expected()) << "seed " << seed;
    ASSERT_TRUE(counting.at_rest()) << "seed " << seed;
    ASSERT_GT(counting.expected(), 0);
  }
}

}  // namespace
}  // namespace codeflare::usage
