#include "controllers/appwrapper/testing/queue_world.h"

#include <gtest/gtest.h>

#include <string>

// AppWrappers that lose their places, and those of MCAD's own group.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(AppWrapperWithdrawal, one_of_higher_priority_takes_the_place_and_gives_it_back) {
  QueueControllersOptions options;
  options.queue.core.preemption = true;
  QueueWorld c(options);
  c.add_node("n1", "4");
  c.start();
  c.create("low", job_item("low", 4));
  c.settle();
  c.run_pod("low", "p0", "n1");
  c.settle();
  c.create("high", job_item("high", 4), R"("priority":10,)");
  c.settle(seconds(2));
  EXPECT_FALSE(c.status("low").can_run);
  EXPECT_EQ(c.get(kJobs, "low"), nullptr);
  EXPECT_EQ(c.status("high").state, "Pending") << "a pod of the other one is still there";
  c.remove(kPods, "p0", {.grace_period_seconds = 0});
  c.settle(seconds(2));
  EXPECT_EQ(c.status("high").state, "Running");
  EXPECT_EQ(c.status("low").state, "Pending");
  EXPECT_EQ(c.status("low").number_of_requeueings, 0);
  EXPECT_TRUE(c.message("low", "PreemptCandidate").contains("high"))
      << c.message("low", "PreemptCandidate");
  c.remove(kAppWrappers, "high");
  c.settle(seconds(2));
  EXPECT_EQ(c.status("low").state, "Running");
  EXPECT_NE(c.get(kJobs, "low"), nullptr);
}

TEST(AppWrapperWithdrawal, one_whose_node_is_gone_has_its_wait_to_find_another) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("a", 2),
           R"("schedulingSpec":{"requeuing":{"timeInSeconds":60,"growthType":"none"}},)");
  c.settle();
  ASSERT_EQ(c.status("a").state, "Running");
  c.run_pod("a", "p0", "n1");
  c.run_pod("a", "p1", "n1");
  c.settle(minutes(5));
  c.remove(kNodes, "n1");
  c.settle(seconds(50));
  EXPECT_TRUE(c.status("a").can_run);
  c.settle(seconds(15));
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  c.remove(kPods, "p0", {.grace_period_seconds = 0});
  c.remove(kPods, "p1", {.grace_period_seconds = 0});
  c.settle();
  EXPECT_EQ(c.status("a").state, "Pending");
  EXPECT_FALSE(c.status("a").plan);
  c.add_node("n2", "4");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Running");
  EXPECT_EQ(c.status("a").plan->places.at(0).node, "n2");
}

TEST(AppWrapperWithdrawal, one_in_trouble_has_its_wait_also_after_a_restart) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("a", 2),
           R"("schedulingSpec":{"minAvailable":2,"requeuing":{"timeInSeconds":60}},)");
  c.settle();
  c.run_pod("a", "p0", "n1");
  c.run_pod("a", "p1", "n1");
  c.settle(minutes(30));
  ASSERT_EQ(c.status("a").running, 2);
  // The node that is drained carries a worker and the controller.
  c.crash();
  c.remove(kPods, "p1", {.grace_period_seconds = 0});
  c.settle(minutes(2));
  c.start();
  c.settle(seconds(50));
  EXPECT_TRUE(c.status("a").can_run);
  EXPECT_EQ(c.status("a").number_of_requeueings, 0);
  c.settle(seconds(15));
  EXPECT_FALSE(c.status("a").can_run);
}

TEST(AppWrapperWithdrawal, an_item_over_a_quota_that_the_queue_does_not_see_is_tried_again) {
  QueueWorld c;
  c.add_node("n1", "4");
  c.create(kResourceQuotas,
           R"({"metadata":{"name":"few"},"spec":{"hard":{"count/jobs.batch":"0"}}})");
  c.settle();
  c.start();
  c.create("a", job_item("a", 4));
  c.settle(seconds(1));
  // The one behind has the whole node, although the first comes again and again.
  c.create("b", R"({"custompodresources":[{"replicas":4,"requests":{"cpu":"1"}}],
      "generictemplate":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}})");
  c.settle(seconds(2));
  EXPECT_EQ(c.status("b").state, "Running") << c.message("b", "Queued");
  c.settle(minutes(4));
  EXPECT_EQ(c.get(kJobs, "a"), nullptr);
  EXPECT_EQ(c.status("a").state, "Pending");
  EXPECT_GE(c.status("a").number_of_requeueings, 1);
  EXPECT_TRUE(c.message("a", "PreemptCandidate").contains("exceeded quota"))
      << c.message("a", "PreemptCandidate");
  EXPECT_LT(c.wire.writes(), 60u) << "a few tries, not a storm";
  c.remove(kAppWrappers, "b");
  c.patch(kResourceQuotas, "few", R"({"spec":{"hard":{"count/jobs.batch":"1"}}})");
  c.settle(seconds(45));
  EXPECT_EQ(c.status("a").state, "Running");
}

TEST(AppWrapperWithdrawal, both_groups_share_one_queue_when_asked_for) {
  QueueControllersOptions options;
  options.legacy_group = true;
  QueueWorld c(options);
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("new", 3));
  c.create(kLegacyAppWrappers,
           R"({"apiVersion":"mcad.ibm.com/v1beta1","kind":"AppWrapper","metadata":{"name":"a"},
           "spec":{"resources":{"GenericItems":[)" +
               job_item("old", 2) + "]}}}");
  c.settle();
  EXPECT_EQ(c.status("a").state, "Running");
  kube::ObjectRef old = c.get(kLegacyAppWrappers, "a");
  EXPECT_EQ(old->string_at({"status", "state"}), "Pending");
  c.remove(kAppWrappers, "a");
  c.settle(seconds(2));
  old = c.get(kLegacyAppWrappers, "a");
  EXPECT_EQ(old->string_at({"status", "state"}), "Running");
  kube::ObjectRef job = c.get(kJobs, "old");
  ASSERT_NE(job, nullptr);
  EXPECT_TRUE(job->owner_references_json().contains("mcad.ibm.com/v1beta1"));
  EXPECT_EQ(c.get(kJobs, "new"), nullptr);
  c.remove(kLegacyAppWrappers, "a");
  c.settle(seconds(2));
  EXPECT_EQ(c.get(kLegacyAppWrappers, "a"), nullptr);
  EXPECT_EQ(c.get(kJobs, "old"), nullptr);
}

TEST(AppWrapperWithdrawal, an_owner_of_the_same_name_is_told_by_its_group) {
  QueueControllersOptions options;
  options.legacy_group = true;
  QueueWorld c(options);
  c.add_node("n1", "4");
  c.start();
  c.create("a", job_item("same"));
  c.settle();
  c.create(kLegacyAppWrappers,
           R"({"apiVersion":"mcad.ibm.com/v1beta1","kind":"AppWrapper","metadata":{"name":"a"},
           "spec":{"resources":{"GenericItems":[)" +
               job_item("same") + "]}}}");
  c.settle();
  const kube::ObjectRef old = c.get(kLegacyAppWrappers, "a");
  EXPECT_EQ(old->string_at({"status", "state"}), "Failed");
  EXPECT_TRUE(old->text().contains("claimed by AppWrapper a of workload.codeflare.dev ("))
      << old->text();
}

}  // namespace
}  // namespace codeflare::controllers::testing
