#include "controllers/appwrapper/testing/queue_world.h"
#include "net/sim_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// The order of work when there is more than workers and server can do at once.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::seconds;

// A server that takes its time.
struct SlowCluster : QueueWorld {
  explicit SlowCluster(std::string_view cpus) : link(service(), env.random, {}) {
    wire.set_target(link);
    add_node("n1", cpus);
  }
  net::SimLink link;
};

TEST(AppWrapperLoad, a_start_does_not_wait_for_the_refusals_of_others) {
  QueueWorld c;
  c.add_node("n1", "4");
  for (int i = 0; i < 200; ++i) {
    const std::string name = "large" + std::to_string(i);
    c.create(name, job_item(name, 9));
  }
  c.create("small", job_item("small"));
  c.start();
  c.settle(seconds(5));
  const std::vector<std::string>& story = c.wire.story();
  const auto created = std::ranges::find(story, "POST jobs");
  ASSERT_NE(created, story.end());
  EXPECT_LT(created - story.begin(), 100) << "of more than two hundred writes";
  EXPECT_EQ(std::ranges::count(story, "POST jobs"), 1);
  EXPECT_GT(story.size(), 200u);
}

TEST(AppWrapperLoad, a_dispatch_behind_refusals_alone_is_told_at_once) {
  SlowCluster c("4");
  for (int i = 0; i < 1'000; ++i) {
    const std::string name = "large" + std::to_string(i);
    c.create(name, job_item(name, 9));
  }
  c.create("small", job_item("small"));
  c.start();
  for (int i = 0; i < 1'000 && c.get(kJobs, "small") == nullptr; ++i) {
    c.settle(std::chrono::milliseconds(20));
  }
  c.settle(std::chrono::milliseconds(100));
  ASSERT_LT(c.wire.story().size(), 1'000u) << "the refusals are not over yet";
  EXPECT_EQ(c.status("small").state, "Running");
}

TEST(AppWrapperLoad, refusals_get_what_starts_leave_of_the_workers) {
  constexpr int kStarts = 40;
  QueueWorld c;
  c.add_node("n1", "40");
  for (int i = 0; i < 200; ++i) {
    const std::string name = "large" + std::to_string(i);
    c.create(name, job_item(name, 90));
  }
  for (int i = 0; i < kStarts; ++i) {
    const std::string name = "small" + std::to_string(i);
    c.create(name, job_item(name));
  }
  c.start();
  c.settle(seconds(5));
  const std::vector<std::string>& story = c.wire.story();
  EXPECT_EQ(std::ranges::count(story, "POST jobs"), kStarts);
  const auto last = std::ranges::find(story.rbegin(), story.rend(), "POST jobs");
  // A start is four writes.
  EXPECT_LT(story.rend() - last, 4 * kStarts + 40) << "of " << story.size() << " writes";
  EXPECT_EQ(story.size(), 4u * kStarts + 200u);
}

TEST(AppWrapperLoad, refusals_wait_while_the_server_is_slow) {
  SlowCluster c("4");
  const auto delay = [&](int milliseconds) {
    net::LinkFaults faults;
    faults.delay_max = std::chrono::milliseconds(milliseconds);
    c.link.set_faults(faults);
  };
  for (int i = 0; i < 200; ++i) {
    const std::string name = "large" + std::to_string(i);
    c.create(name, job_item(name, 9));
  }
  delay(400);
  c.start();
  c.settle(seconds(10));
  const std::size_t slow = c.wire.story().size();
  EXPECT_GT(slow, 30u) << "a few a second are told";
  EXPECT_LT(slow, 100u);
  c.create("small", job_item("small"));
  c.settle(seconds(3));
  EXPECT_EQ(c.status("small").state, "Running") << "it does not wait for them";
  delay(20);
  c.settle(seconds(15));
  EXPECT_EQ(c.wire.story().size(), 200u + 4u);
}

TEST(AppWrapperLoad, pod_counts_get_what_starts_and_ends_leave_of_the_workers) {
  constexpr int kRunning = 50;
  constexpr int kStarts = 50;
  QueueWorld c;
  c.add_node("n1", "200");
  const auto create = [&](std::string_view kind, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = std::string(kind) + std::to_string(i);
      c.create(name, job_item(name));
    }
  };
  create("old", kRunning);
  c.start();
  c.settle(seconds(10));
  const std::size_t before = c.wire.story().size();
  ASSERT_EQ(before, 4u * kRunning);
  c.crash();  // so that all of it is seen at once
  for (int i = 0; i < kRunning; ++i) {
    const std::string name = "old" + std::to_string(i);
    c.run_pod(name, "p" + std::to_string(i), "n1");
  }
  create("new", kStarts);
  c.start();
  c.settle(seconds(5));
  const std::vector<std::string>& story = c.wire.story();
  const auto last = std::ranges::find(story.rbegin(), story.rend(), "POST jobs");
  // A start is four writes.
  EXPECT_LT(story.rend() - last - static_cast<std::ptrdiff_t>(before), 4 * kStarts + 20)
      << "of " << story.size() - before << " writes";
  EXPECT_EQ(story.size() - before, 4u * kStarts + kRunning) << "every count is told in the end";
  EXPECT_EQ(c.history("old0"), "Init Queueing HeadOfLine Dispatched Running");
}

TEST(AppWrapperLoad, a_dispatch_is_told_a_little_late_while_too_much_is_to_be_done) {
  constexpr int kStarts = 100;
  SlowCluster c("100");
  const auto name = [](int i) { return "a" + std::to_string(i); };
  for (int i = 0; i < kStarts; ++i) {
    c.create(name(i), job_item(name(i)));
  }
  c.start();
  while (std::ranges::count(c.wire.story(), "POST jobs") < kStarts) {
    c.settle(std::chrono::milliseconds(20));
  }
  ASSERT_EQ(std::ranges::count(c.wire.story(), "POST jobs"), kStarts);
  const auto told = [&](std::string_view state) {
    int count = 0;
    for (int i = 0; i < kStarts; ++i) {
      count += c.status(name(i)).state == state ? 1 : 0;
    }
    return count;
  };
  EXPECT_LT(told("Running"), kStarts);
  // Half of them end before their start was written.
  for (int i = 0; i < kStarts / 2; ++i) {
    c.complete(name(i));
  }
  c.settle(seconds(3));
  EXPECT_EQ(told("Completed"), kStarts / 2);
  EXPECT_EQ(told("Running"), kStarts / 2) << "nobody waits for the end to be told";
  EXPECT_EQ(c.history(name(0)), "Init Queueing HeadOfLine Dispatched Completed");
  // Finalizer, intent, Job, Dispatched; and the end of those written at once.
  EXPECT_LT(c.wire.story().size(), 4u * kStarts + kStarts / 2);
  EXPECT_EQ(std::ranges::count(c.wire.story(), "POST jobs"), kStarts) << "each once";
}

}  // namespace
}  // namespace codeflare::controllers::testing
