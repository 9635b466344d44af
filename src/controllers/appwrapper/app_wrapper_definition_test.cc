#include "controllers/appwrapper/testing/queue_world.h"
#include "controllers/crds/ensure_crds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// Servers with MCAD's definition of AppWrappers, which has no `status.plan`.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const model::ResourceType kDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                       "customresourcedefinitions", false};
constexpr std::string_view kSentence =
    "customresourcedefinition appwrappers.workload.codeflare.dev drops status.plan, so nothing can "
    "start; apply crds/workload.codeflare.dev_appwrappers.yaml";

struct Mcad : QueueWorld {
  Mcad() { add_node("n1", "4"); }

  void use_mcads() {
    patch(kDefinitions, "appwrappers.workload.codeflare.dev",
          R"({"spec":{"versions":[{"name":"v1beta1","served":true,"storage":true,
              "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",
              "properties":{
                "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
                "status":{"type":"object","properties":{
                  "canrun":{"type":"boolean"},"state":{"type":"string"},
                  "systempriority":{"type":"number"},
                  "conditions":{"type":"array","items":{"type":"object",
                    "x-kubernetes-preserve-unknown-fields":true}}}}}}}}]}})");
    settle();
  }
  // As `kubectl delete -f` of MCAD's files: all AppWrappers go with it.
  void delete_definition() {
    remove(kDefinitions, "appwrappers.workload.codeflare.dev");
    settle(minutes(1));
    ASSERT_TRUE(mend || get(kDefinitions, "appwrappers.workload.codeflare.dev") == nullptr);
  }
  void use_ours() {
    ASSERT_TRUE(run(env.loop, mend_crds(admin, false))->has_value());
    settle();
  }
  std::size_t errors() const {
    const auto lines = log.lines();
    return static_cast<std::size_t>(std::ranges::count_if(lines, [](const std::string& line) {
      return line.find("nothing can start") != std::string::npos;
    }));
  }
};

TEST(AppWrapperDefinition, nothing_starts_and_one_sentence_says_why) {
  Mcad w;
  w.use_mcads();
  w.start();
  w.create("a", job_item("a"));
  w.create("b", job_item("b"));
  w.settle(minutes(2));
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(w.status(name).state, "Pending");
    EXPECT_FALSE(w.status(name).can_run);
    EXPECT_TRUE(w.message(name, "Queued").starts_with(kSentence)) << w.message(name, "Queued");
  }
  EXPECT_TRUE(w.list(kJobs).empty());
  EXPECT_EQ(w.errors(), 1U);
  const std::uint64_t writes = w.wire.writes();
  w.settle(minutes(10));
  EXPECT_EQ(w.wire.writes(), writes);
  EXPECT_EQ(w.errors(), 1U);
}

TEST(AppWrapperDefinition, work_starts_when_somebody_applies_ours) {
  Mcad w;
  w.use_mcads();
  w.start();
  w.create("a", job_item("a"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("a").state, "Pending");
  w.use_ours();
  w.settle(seconds(15));
  EXPECT_EQ(w.status("a").state, "Running");
  EXPECT_EQ(w.list(kJobs).size(), 1U);
}

TEST(AppWrapperDefinition, running_work_is_left_alone_while_its_plan_cannot_be_written) {
  Mcad w;
  w.start();
  w.create("a", job_item("a", 1, "3"));
  w.settle();
  w.run_pod("a", "p0", "n1");
  w.settle(seconds(6));
  ASSERT_EQ(w.status("a").state, "Running");
  const std::string job(w.get(kJobs, "a")->uid());
  w.use_mcads();
  w.create("b", job_item("b", 1, "1"));
  w.settle(minutes(2));
  EXPECT_EQ(w.status("a").state, "Running");
  EXPECT_EQ(w.status("b").state, "Pending");
  ASSERT_NE(w.get(kJobs, "a"), nullptr);
  EXPECT_EQ(w.get(kJobs, "a")->uid(), job);
  EXPECT_FALSE(w.get(kJobs, "a")->deleting());
  w.use_ours();
  w.settle(seconds(30));
  EXPECT_EQ(w.status("b").state, "Running");
  w.set_phase("p0", "Succeeded");
  w.complete("a");
  w.settle(seconds(30));
  EXPECT_EQ(w.status("a").state, "Completed");
}

// As `codeflare up` and `--install-crds` do it.
struct Mending : Mcad {
  Mending() {
    mend = [this] { return mend_crds(admin, false); };
  }
};

TEST(AppWrapperDefinition, the_controller_applies_its_own_where_it_may) {
  Mending w;
  w.use_mcads();
  w.start();
  w.create("a", job_item("a"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("a").state, "Running");
  w.use_mcads();
  w.create("b", job_item("b"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("b").state, "Running");
  EXPECT_EQ(w.errors(), 2U);
}

TEST(AppWrapperDefinition, a_deleted_one_comes_back_and_work_starts_again) {
  Mending w;
  w.start();
  w.create("a", job_item("a"));
  w.settle();
  ASSERT_EQ(w.status("a").state, "Running");
  w.delete_definition();
  EXPECT_EQ(w.get(kAppWrappers, "a"), nullptr);
  EXPECT_TRUE(w.list(kJobs).empty());
  w.settle(minutes(1));
  w.create("b", job_item("b"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("b").state, "Running");
  EXPECT_EQ(w.errors(), 1U);
}

TEST(AppWrapperDefinition, so_does_a_deleted_one_of_quotas_and_nothing_waits_for_it) {
  Mending w;
  w.start();
  w.remove(kDefinitions, "quotasubtrees.quota.codeflare.dev");
  w.create("a", job_item("a"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("a").state, "Running");
  w.settle(minutes(1));
  EXPECT_NE(w.get(kDefinitions, "quotasubtrees.quota.codeflare.dev"), nullptr);
  EXPECT_EQ(w.errors(), 0U);
}

TEST(AppWrapperDefinition, one_that_drops_plans_and_is_deleted_then_is_called_missing) {
  Mcad w;
  w.use_mcads();
  w.start();
  w.create("a", job_item("a"));
  w.settle(seconds(5));
  ASSERT_EQ(w.errors(), 1U);
  w.delete_definition();
  EXPECT_TRUE(w.log.has("is missing, so nothing can start"));
  EXPECT_EQ(w.errors(), 2U);
  w.use_ours();
  w.settle(minutes(1));
  w.create("b", job_item("b"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("b").state, "Running");
}

TEST(AppWrapperDefinition, one_sentence_says_that_it_is_missing_until_somebody_applies_it) {
  Mcad w;
  w.start();
  w.delete_definition();
  EXPECT_TRUE(
      w.log.has("customresourcedefinition appwrappers.workload.codeflare.dev is missing, "
                "so nothing can start; apply crds/workload.codeflare.dev_appwrappers.yaml"));
  const auto warnings = [&] {
    return std::ranges::count_if(w.log.lines(), [](const std::string& line) {
      return line.starts_with("WARN") || line.starts_with("ERROR");
    });
  };
  const auto before = warnings();
  w.settle(minutes(30));
  EXPECT_EQ(warnings(), before) << "nothing repeats";
  EXPECT_EQ(w.errors(), 1U);
  w.use_ours();
  w.settle(minutes(1));
  w.create("a", job_item("a"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("a").state, "Running");
  EXPECT_EQ(w.errors(), 1U);
}

}  // namespace
}  // namespace codeflare::controllers::testing
