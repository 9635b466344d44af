#include "controllers/run/run_controller.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/platform.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::runs {
namespace {

using std::chrono::seconds;

// Runs on a real API server; the queue is driven by hand.
struct World {
  controllers::testing::EmbeddedCluster cluster;
  RunReconciler* reconciler = nullptr;

  World() {
    auto crds = *codeflare::run(cluster.env.loop, ensure_crds(cluster.client, {}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    reconciler = &add_run_controller(cluster.manager, &cluster.metrics);
    cluster.start();
  }
  void make_application() {
    cluster.create<model::Application>(
        R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Application","metadata":{"name":"app"},)"
        R"("spec":{"api":"shell","image":"i","command":"true"}})");
    cluster.settle();
  }
  void make_run(const std::string& spec = "") {
    cluster.create<model::Run>(
        R"({"apiVersion":"codeflare.dev/v1alpha1","kind":"Run","metadata":{"name":"r"},)"
        R"("spec":{"application":{"name":"app"},"size":"xs")" +
        spec + "}}");
    cluster.settle();
  }
  model::Run read() { return cluster.read<model::Run>("r"); }
  model::AppWrapper wrapper() {
    auto all = cluster.list<model::AppWrapper>();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? model::AppWrapper() : all[0];
  }
  void state(const std::string& word) {
    cluster.patch<model::AppWrapper>(wrapper().metadata.name,
                                     R"({"status":{"state":")" + word + R"("}})", "status");
    cluster.settle();
  }
  ::testing::AssertionResult idle() {
    return runtime::testing::is_idempotent(cluster.env, *reconciler, {"default", "r"});
  }
};

TEST(RunController, makes_one_app_wrapper_and_follows_it_to_its_end) {
  World w;
  w.make_application();
  w.make_run();
  EXPECT_EQ(w.read().status.phase, "Queued");
  EXPECT_EQ(w.wrapper().metadata.name, w.read().status.app_wrapper);
  EXPECT_TRUE(w.idle());
  w.state("Completed");
  EXPECT_EQ(w.read().status.phase, "Completed");
  EXPECT_TRUE(w.idle());
  w.state("Failed");
  EXPECT_EQ(w.read().status.phase, "Completed");
}

TEST(RunController, counts_runs_by_phase_and_api) {
  World w;
  w.make_run();
  EXPECT_TRUE(
      w.cluster.metrics.expose().contains("codeflare_runs{phase=\"Pending\",api=\"unknown\"} 1\n"));
  w.make_application();
  EXPECT_TRUE(
      w.cluster.metrics.expose().contains("codeflare_runs{phase=\"Queued\",api=\"shell\"} 1\n"));
  EXPECT_TRUE(
      w.cluster.metrics.expose().contains("codeflare_runs{phase=\"Pending\",api=\"unknown\"} 0\n"));
  w.cluster.remove<model::Run>("r", {.propagation_policy = "Background"});
  w.cluster.settle();
  EXPECT_TRUE(
      w.cluster.metrics.expose().contains("codeflare_runs{phase=\"Queued\",api=\"shell\"} 0\n"));
}

// The cache of AppWrappers of a new leader may lag: here the name that it looks for is another one.
TEST(RunController, gives_a_run_up_only_when_the_server_has_no_app_wrapper) {
  World w;
  w.make_run();
  w.cluster.create<model::AppWrapper>(
      R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper",)"
      R"("metadata":{"name":"w"},"spec":{"resources":{"GenericItems":[{"generictemplate":)"
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}}]}}})");
  w.cluster.patch<model::Run>("r", R"({"status":{"appWrapper":"w"}})", "status");
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.read().status.phase, "Pending");
  w.cluster.remove<model::AppWrapper>("w");
  w.cluster.settle(seconds(60));
  EXPECT_EQ(w.read().status.phase, "Failed");
  EXPECT_EQ(w.read().status.reason, "AppWrapperDeleted");
}

TEST(RunController, is_removed_when_its_time_after_the_end_is_over) {
  World w;
  w.make_application();
  w.make_run(R"(,"ttlSecondsAfterFinished":30)");
  w.state("Completed");
  EXPECT_EQ(w.cluster.list<model::Run>().size(), 1u);
  w.cluster.settle(seconds(31));
  EXPECT_TRUE(w.cluster.list<model::Run>().empty());
}

TEST(RunController, an_application_that_comes_later_heals_the_run) {
  World w;
  w.make_run();
  EXPECT_EQ(w.read().status.phase, "Pending");
  EXPECT_TRUE(w.idle());
  w.make_application();
  EXPECT_EQ(w.read().status.phase, "Queued");
}

TEST(RunController, an_application_that_does_not_come_fails_it_after_a_minute) {
  World w;
  w.make_run();
  w.cluster.settle(seconds(62));
  EXPECT_EQ(w.read().status.phase, "Failed");
  EXPECT_TRUE(w.idle());
  w.make_application();
  EXPECT_EQ(w.read().status.phase, "Failed");
}

TEST(RunController, a_run_that_is_made_anew_does_not_meet_its_predecessor) {
  World w;
  w.make_application();
  w.make_run();
  const std::string first = w.wrapper().metadata.name;
  w.cluster.remove<model::Run>("r", {.propagation_policy = "Background"});
  w.cluster.settle(seconds(5));
  EXPECT_TRUE(w.cluster.list<model::AppWrapper>().empty());
  w.make_run();
  EXPECT_NE(w.wrapper().metadata.name, first);
}

TEST(RunController, ttl_deletes_the_run_and_its_app_wrapper) {
  World w;
  w.make_application();
  w.make_run(R"(,"ttlSecondsAfterFinished":5)");
  w.state("Completed");
  EXPECT_EQ(w.read().status.phase, "Completed");
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.cluster.get<model::Run>("r"), nullptr);
  EXPECT_TRUE(w.cluster.list<model::AppWrapper>().empty());
}

TEST(RunController, only_suspend_priority_and_ttl_can_be_changed) {
  World w;
  w.make_application();
  w.make_run();
  w.cluster.patch<model::Run>("r", R"({"spec":{"suspend":true,"priority":"low"}})");
  w.cluster.settle();
  EXPECT_TRUE(w.wrapper().spec.suspend.value_or(false));
  EXPECT_EQ(w.wrapper().spec.priority, -100);
  EXPECT_EQ(w.read().status.phase, "Suspended");
  EXPECT_TRUE(w.idle());
  auto changed =
      *codeflare::run(w.cluster.env.loop,
                      w.cluster.client.patch(model::resource_type<model::Run>(), {"default", "r"},
                                             kube::PatchKind::merge, R"({"spec":{"size":"lg"}})"));
  ASSERT_FALSE(changed);
  EXPECT_TRUE(changed.error().message.contains("size cannot be changed"));
}

}  // namespace
}  // namespace codeflare::controllers::runs
