#include "controllers/job/job_controller.h"

#include "controllers/testing/embedded_cluster.h"
#include "model/codec/event.h"
#include "model/codec/job.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace codeflare::controllers::job {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string job(std::string_view spec) {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{)" +
         std::string(spec) +
         R"("template":{"metadata":{"labels":{"team":"a"}},"spec":{"restartPolicy":"Never",)"
         R"("containers":[{"name":"c","image":"x"}]}}}})";
}

struct World {
  testing::EmbeddedCluster cluster;
  JobReconciler& reconciler = add_job_controller(cluster.manager);

  World() { cluster.start(); }
  void make(std::string_view spec) {
    cluster.create<model::Job>(job(spec));
    cluster.settle();
  }
  model::Job read() { return cluster.read<model::Job>("j"); }
  // Pods that have not ended and are not being deleted.
  std::vector<model::Pod> active() {
    std::vector<model::Pod> pods = cluster.list<model::Pod>();
    std::erase_if(pods, [](const model::Pod& pod) {
      return pod.metadata.deleting() || pod.status.phase == "Succeeded" ||
             pod.status.phase == "Failed";
    });
    return pods;
  }
  void end(const model::Pod& pod, std::string_view phase) {
    cluster.patch<model::Pod>(pod.metadata.name,
                              R"({"status":{"phase":")" + std::string(phase) + R"("}})", "status");
    cluster.settle();
  }
  bool holds(std::string_view condition) {
    return model::is_condition_true(read().status.conditions, condition);
  }
};

TEST(JobController, makes_pods_as_kubernetes_does) {
  World w;
  w.make("");
  const auto pods = w.cluster.list<model::Pod>();
  ASSERT_EQ(pods.size(), 1u);
  const model::Job made = w.read();
  const model::ObjectMeta& meta = pods[0].metadata;
  EXPECT_EQ(meta.generate_name, "j-");
  EXPECT_EQ(meta.name.size(), 7u);
  EXPECT_EQ(meta.labels.at("team"), "a");
  EXPECT_EQ(meta.labels.at("job-name"), "j");
  EXPECT_EQ(meta.labels.at("batch.kubernetes.io/job-name"), "j");
  EXPECT_EQ(meta.labels.at("controller-uid"), made.metadata.uid);
  EXPECT_EQ(meta.labels.at("batch.kubernetes.io/controller-uid"), made.metadata.uid);
  EXPECT_EQ(meta.finalizers, std::vector<std::string>{"batch.kubernetes.io/job-tracking"});
  const model::OwnerReference* owner = model::controller_of(meta);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(owner->kind, "Job");
  EXPECT_EQ(owner->uid, made.metadata.uid);
  EXPECT_EQ(made.status.active, 1);
  EXPECT_EQ(made.status.ready, 0);
  EXPECT_TRUE(made.status.start_time);
}

TEST(JobController, pods_of_an_indexed_job_know_their_index) {
  World w;
  w.make(R"("completions":2,"parallelism":2,"completionMode":"Indexed",)");
  auto pods = w.cluster.list<model::Pod>();
  ASSERT_EQ(pods.size(), 2u);
  std::ranges::sort(pods, {}, [](const model::Pod& pod) { return pod.metadata.name; });
  EXPECT_TRUE(pods[1].metadata.name.starts_with("j-1-"));
  EXPECT_EQ(pods[1].spec.hostname, "j-1");
  EXPECT_EQ(pods[1].metadata.labels.at(std::string(kIndexKey)), "1");
  EXPECT_EQ(pods[1].metadata.annotations.at(std::string(kIndexKey)), "1");
  const model::EnvVar& variable = pods[1].spec.containers[0].env.at(0);
  EXPECT_EQ(variable.name, "JOB_COMPLETION_INDEX");
  EXPECT_EQ(variable.value_from->field_ref->field_path,
            "metadata.labels['batch.kubernetes.io/job-completion-index']");
  w.end(pods[0], "Succeeded");
  EXPECT_EQ(w.read().status.completed_indexes, "0");
  w.end(pods[1], "Succeeded");
  EXPECT_EQ(w.read().status.completed_indexes, "0,1");
  EXPECT_TRUE(w.holds("Complete"));
}

TEST(JobController, runs_to_completion_and_lets_its_pods_go) {
  World w;
  w.make(R"("completions":3,"parallelism":2,)");
  for (int round = 0; round < 3; ++round) {
    const auto active = w.active();
    ASSERT_EQ(active.size(), round == 2 ? 1u : 2u) << round;
    w.end(active[0], "Succeeded");
    EXPECT_EQ(w.read().status.succeeded, round + 1);
  }
  const model::Job done = w.read();
  EXPECT_FALSE(w.holds("SuccessCriteriaMet"));  // there was nothing to wait for
  EXPECT_TRUE(w.holds("Complete"));
  EXPECT_TRUE(done.status.completion_time);
  EXPECT_EQ(done.status.active, 0);
  for (const model::Pod& pod : w.cluster.list<model::Pod>()) {
    EXPECT_TRUE(pod.metadata.finalizers.empty()) << pod.metadata.name;
  }
}

TEST(JobController, a_success_stays_counted_whoever_deletes_the_pod_and_when) {
  World w;
  w.make(R"("completions":2,"parallelism":1,)");
  const model::Pod first = w.active().at(0);
  // Deleted in the same moment: the pod is held until it is counted.
  w.cluster.patch<model::Pod>(first.metadata.name, R"({"status":{"phase":"Succeeded"}})", "status");
  w.cluster.remove<model::Pod>(first.metadata.name, {.grace_period_seconds = 0});
  w.cluster.settle();
  EXPECT_EQ(w.cluster.get<model::Pod>(first.metadata.name), nullptr);
  EXPECT_EQ(w.read().status.succeeded, 1);
  w.end(w.active().at(0), "Succeeded");
  EXPECT_EQ(w.read().status.succeeded, 2);
  EXPECT_TRUE(w.holds("Complete"));
}

TEST(JobController, tries_again_later_and_gives_up_at_the_limit) {
  World w;
  w.make(R"("backoffLimit":1,)");
  w.end(w.active().at(0), "Failed");
  EXPECT_TRUE(w.active().empty());
  w.cluster.settle(seconds(10));
  ASSERT_EQ(w.active().size(), 1u);
  EXPECT_EQ(w.read().status.failed, 1);
  w.end(w.active().at(0), "Failed");
  EXPECT_FALSE(w.holds("FailureTarget"));
  EXPECT_TRUE(w.holds("Failed"));
  EXPECT_EQ(w.read().status.failed, 2);
  w.cluster.settle(minutes(30));
  EXPECT_TRUE(w.active().empty());
}

TEST(JobController, suspends_and_resumes) {
  World w;
  w.make(R"("parallelism":2,"completions":2,)");
  w.cluster.patch<model::Job>("j", R"({"spec":{"suspend":true}})");
  w.cluster.settle();
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_TRUE(w.holds("Suspended"));
  EXPECT_EQ(w.read().status.failed, 0);
  w.cluster.patch<model::Job>("j", R"({"spec":{"suspend":false}})");
  w.cluster.settle();
  EXPECT_EQ(w.active().size(), 2u);
  EXPECT_FALSE(w.holds("Suspended"));
}

TEST(JobController, a_deadline_ends_it) {
  World w;
  w.make(R"("activeDeadlineSeconds":60,)");
  w.cluster.settle(seconds(50));
  EXPECT_EQ(w.active().size(), 1u);
  w.cluster.settle(seconds(15));
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_TRUE(w.holds("Failed"));
  EXPECT_EQ(w.read().status.conditions.back().reason, "DeadlineExceeded");
}

TEST(JobController, a_deleted_job_takes_its_pods_along) {
  World w;
  w.make(R"("parallelism":2,"completions":2,)");
  w.cluster.remove<model::Job>("j", {.propagation_policy = "Background"});
  w.cluster.settle(seconds(5));
  EXPECT_EQ(w.cluster.get<model::Job>("j"), nullptr);
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
}

TEST(JobController, goes_by_itself_when_asked_to) {
  World w;
  w.make(R"("ttlSecondsAfterFinished":30,)");
  w.end(w.active().at(0), "Succeeded");
  w.cluster.settle(seconds(25));
  EXPECT_NE(w.cluster.get<model::Job>("j"), nullptr);
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.cluster.get<model::Job>("j"), nullptr);
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
}

TEST(JobController, a_refused_pod_is_told_and_tried_again) {
  World w;
  const model::ResourceType quotas{"", "v1", "ResourceQuota", "resourcequotas", true};
  auto made =
      *run(w.cluster.env.loop,
           w.cluster.client.create(quotas, "default",
                                   R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"1"}}})"));
  ASSERT_TRUE(made) << made.error().to_string();
  w.cluster.settle();
  w.make(R"("parallelism":2,"completions":2,)");
  EXPECT_EQ(w.active().size(), 1u);
  bool told = false;
  for (const model::Event& event : w.cluster.list<model::Event>()) {
    told |= event.reason == "FailedCreate" && event.message.contains("exceeded quota");
  }
  EXPECT_TRUE(told);
  w.end(w.active().at(0), "Succeeded");
  w.cluster.settle(minutes(20));
  EXPECT_EQ(w.active().size(), 1u);
}

TEST(JobController, a_large_job_runs_too) {
  World w;
  w.make(R"("parallelism":520,"completions":520,)");
  w.cluster.settle(seconds(5));
  const std::vector<model::Pod> pods = w.active();
  ASSERT_EQ(pods.size(), 520u);
  for (const model::Pod& pod : pods) {
    w.cluster.patch<model::Pod>(pod.metadata.name, R"({"status":{"phase":"Succeeded"}})", "status");
  }
  w.cluster.settle(seconds(5));
  EXPECT_EQ(w.read().status.succeeded, 520);
  EXPECT_TRUE(w.holds("Complete"));
}

TEST(JobController, a_second_look_finds_nothing_to_write) {
  World w;
  w.make(R"("parallelism":3,"completions":3,)");
  EXPECT_TRUE(runtime::testing::is_idempotent(w.cluster.env, w.reconciler, {"default", "j"}));
  for (const model::Pod& pod : w.active()) {
    w.end(pod, "Succeeded");
    EXPECT_TRUE(runtime::testing::is_idempotent(w.cluster.env, w.reconciler, {"default", "j"}));
  }
  EXPECT_TRUE(w.holds("Complete"));
}

}  // namespace
}  // namespace codeflare::controllers::job
