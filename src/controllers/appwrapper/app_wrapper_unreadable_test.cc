#include "controllers/appwrapper/testing/queue_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// Objects that the codec cannot read any more, as a cluster with another definition of AppWrappers
// may store them.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// `a` runs with three of four cpus and one pod of it is there; `b` wants two.
struct Lax : QueueWorld {
  Lax() {
    add_node("n1", "4");
    start();
    const model::ResourceType definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                          "customresourcedefinitions", false};
    patch(definitions, "appwrappers.workload.codeflare.dev",
          R"({"spec":{"versions":[{"name":"v1beta1","served":true,"storage":true,
              "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",
              "x-kubernetes-preserve-unknown-fields":true}}}]}})");
    settle();
    create("a", job_item("a", 1, "3"));
    settle();
    EXPECT_EQ(state("a"), "Running");
    run_pod("a", "p0", "n1");
    settle(seconds(6));
    job = std::string(get(kJobs, "a")->uid());
    create("b", job_item("b", 1, "2"));
    settle();
    EXPECT_EQ(state("b"), "Pending");
  }

  std::string at(const std::string& name, std::string_view field) {
    return std::string(get(kAppWrappers, name)->string_at({"status", field}));
  }
  std::string state(const std::string& name) { return at(name, "state"); }
  // Nothing was ended, and nobody has its places.
  void expect_untouched() {
    EXPECT_EQ(state("a"), "Running");
    const kube::ObjectRef there = get(kJobs, "a");
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(there->uid(), job);
    EXPECT_FALSE(there->deleting());
    EXPECT_EQ(state("b"), "Pending");
    EXPECT_EQ(get(kJobs, "b"), nullptr);
  }
  std::size_t events() {
    const auto all = list(kEvents);
    return static_cast<std::size_t>(std::ranges::count_if(all, [](const kube::ObjectRef& event) {
      return event->string_at({"reason"}) == "Unreadable";
    }));
  }

  std::string job;
};

constexpr const char* kBroken = R"({"spec":{"priority":"high","schedulingSpec":[]}})";
constexpr const char* kMended = R"({"spec":{"priority":0,"schedulingSpec":null}})";

TEST(AppWrapperUnreadable, what_runs_goes_on_keeps_its_places_and_says_what_cannot_be_read) {
  Lax c;
  c.patch(kAppWrappers, "a", kBroken);
  c.settle(seconds(3));
  c.expect_untouched();
  const std::string message = c.at("a", "message");
  EXPECT_TRUE(message.starts_with("can no longer be read; it keeps running")) << message;
  EXPECT_TRUE(message.contains("spec.")) << message;
  EXPECT_EQ(c.events(), 1u);
  const std::uint64_t writes = c.wire.writes();
  c.settle(minutes(20));
  c.expect_untouched();
  EXPECT_EQ(c.wire.writes(), writes) << "it was said once";
  // Read again, it ends as usual.
  c.patch(kAppWrappers, "a", kMended);
  c.settle(seconds(6));
  EXPECT_EQ(c.at("a", "message"), "");
  c.set_phase("p0", "Succeeded");
  c.complete("a");
  c.settle(seconds(2));
  EXPECT_EQ(c.state("a"), "Completed");
  EXPECT_EQ(c.state("b"), "Running");
}

TEST(AppWrapperUnreadable, the_next_process_leaves_it_alone_too) {
  Lax c;
  c.crash();
  c.patch(kAppWrappers, "a", kBroken);
  c.start();
  c.settle(minutes(20));
  c.expect_untouched();
  EXPECT_EQ(c.events(), 1u);
  c.patch(kAppWrappers, "a", kMended);
  c.settle(seconds(6));
  c.expect_untouched();
  EXPECT_EQ(c.at("a", "message"), "");
}

TEST(AppWrapperUnreadable, its_owner_can_delete_it) {
  Lax c;
  c.patch(kAppWrappers, "a", kBroken);
  c.settle(seconds(3));
  c.remove(kAppWrappers, "a");
  c.remove(kPods, "p0", {.grace_period_seconds = 0});
  c.settle(seconds(6));
  EXPECT_EQ(c.get(kAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  EXPECT_EQ(c.state("b"), "Running");
}

TEST(AppWrapperUnreadable, a_status_that_cannot_be_read_ends_nothing_either) {
  Lax c;
  c.patch(kAppWrappers, "a", R"({"status":{"plan":"gone","running":"two"}})", "status");
  c.settle(minutes(1));
  c.expect_untouched();
  EXPECT_GE(c.events(), 1u);
  c.crash();
  c.start();
  c.settle(minutes(1));
  c.expect_untouched();
}

}  // namespace
}  // namespace codeflare::controllers::testing
