#include "controllers/trainingjob/training_controller.h"

#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"
#include "model/codec/service.h"
#include "model/codec/training_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

namespace codeflare::controllers::trainingjob {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string job(const std::string& name, const std::string& spec,
                const std::string& annotations = R"("codeflare.dev/duration":"24h")") {
  return R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":")" + name +
         R"("},"spec":{)" + spec + R"("replicaSpecs":{"template":{"metadata":{"annotations":{)" +
         annotations + R"(}},"spec":{"containers":[{"name":"trainingjob","image":"i",)" +
         R"("resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}}}}})";
}

std::string bounds(int min, int max) {
  return "\"minSize\":" + std::to_string(min) + ",\"maxSize\":" + std::to_string(max) + ",";
}

// A cluster with one fake node, the queue and TrainingJobs.
struct World {
  testing::EmbeddedCluster cluster;

  explicit World(int cpus, QueueControllersOptions options = {}) {
    auto crds = *run(cluster.env.loop, ensure_crds(cluster.client, {}));
    EXPECT_TRUE(crds);
    options.queue.binds = queue::Binds::all;
    options.queue.user_check = false;
    options.training_jobs = true;
    options.trim_caches = false;
    auto driver = add_queue_controllers(cluster.manager, options);
    add_training_controller(cluster.manager, *driver,
                            {.training = options.queue.training, .scheduler_name = "codeflare"});
    fakenode::add_fake_node_controllers(cluster.manager);
    auto nodes = *run(cluster.env.loop, fakenode::register_fake_nodes(
                                            cluster.client, {.cpus = model::Quantity(cpus)}));
    EXPECT_TRUE(nodes);
    cluster.start();
  }

  void make(const std::string& body) {
    cluster.create<model::TrainingJob>(body);
    cluster.settle(seconds(10));
  }
  model::TrainingJobStatus status(const std::string& name) {
    return cluster.read<model::TrainingJob>(name).status;
  }
  // Names and UIDs of its pods that run.
  std::map<std::string, std::string> running(const std::string& name) {
    std::map<std::string, std::string> pods;
    for (const model::Pod& pod : cluster.list<model::Pod>("default", "breezeml.ai/job=" + name)) {
      if (pod.status.phase == "Running" && !pod.metadata.deleting()) {
        pods.emplace(pod.metadata.name, pod.metadata.uid);
      }
    }
    return pods;
  }
};

TEST(TrainingController, runs_a_job_on_whatever_is_free_between_its_bounds) {
  World w(3);
  w.make(job("bert", bounds(1, 8)));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Running");
  EXPECT_EQ(status.current_size, 3);
  EXPECT_EQ(status.ready_size, 3);
  EXPECT_EQ(status.plan->places.size(), 3U);
  ASSERT_TRUE(status.membership);
  EXPECT_EQ(status.membership->members.size(), 3U);
  const auto pods = w.running("bert");
  EXPECT_EQ(pods.size(), 3U);
  EXPECT_TRUE(pods.contains("bert-worker-0"));
  const auto service = w.cluster.read<model::Service>("bert");
  EXPECT_EQ(service.spec.cluster_ip, "None");
  EXPECT_TRUE(service.spec.publish_not_ready_addresses);
}

TEST(TrainingController, bounds_change_while_it_runs_and_survivors_keep_their_pods) {
  World w(8);
  w.make(job("bert", bounds(1, 4)));
  const auto before = w.running("bert");
  ASSERT_EQ(before.size(), 4U);
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"maxSize":6}})");
  w.cluster.settle(seconds(10));
  const auto grown = w.running("bert");
  EXPECT_EQ(grown.size(), 6U);
  for (const auto& [name, uid] : before) {
    EXPECT_EQ(grown.at(name), uid) << name;
  }
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"maxSize":2}})");
  w.cluster.settle(minutes(3));
  const auto shrunk = w.running("bert");
  EXPECT_EQ(shrunk.size(), 2U);
  for (const auto& [name, uid] : shrunk) {
    EXPECT_EQ(grown.at(name), uid) << name;
  }
  EXPECT_EQ(w.status("bert").current_size, 2);
  EXPECT_EQ(w.status("bert").restart_counts.user, 0);
}

TEST(TrainingController, two_jobs_of_two_to_four_on_five_units_are_three_and_two) {
  World w(5);
  w.make(job("a", bounds(2, 4)));
  EXPECT_EQ(w.running("a").size(), 4U);
  w.make(job("b", bounds(2, 4)));
  w.cluster.settle(minutes(3));
  EXPECT_EQ(w.running("a").size(), 3U);
  EXPECT_EQ(w.running("b").size(), 2U);
}

TEST(TrainingController, an_app_wrapper_takes_growth_and_the_job_grows_back) {
  World w(4);
  w.make(job("bert", bounds(1, 4)));
  EXPECT_EQ(w.running("bert").size(), 4U);
  w.cluster.create<model::AppWrapper>(
      R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{)"
      R"("name":"fixed"},"spec":{"resources":{"GenericItems":[{"generictemplate":{)"
      R"("apiVersion":"v1","kind":"Pod","metadata":{"name":"fixed","annotations":{)"
      R"("codeflare.dev/duration":"60s"}},"spec":{"restartPolicy":"Never","containers":[{)"
      R"("name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}}]}}})");
  w.cluster.settle(seconds(40));
  EXPECT_EQ(w.running("bert").size(), 2U);
  EXPECT_EQ(w.cluster.read<model::Pod>("fixed").status.phase, "Running");
  w.cluster.settle(minutes(3));
  EXPECT_EQ(w.running("bert").size(), 4U);
}

TEST(TrainingController, succeeds_when_every_worker_has_and_is_never_run_again) {
  World w(4);
  w.make(job("bert", bounds(2, 2), R"("codeflare.dev/duration":"30s")"));
  w.cluster.settle(minutes(2));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Completed");
  EXPECT_EQ(status.reason, "Succeeded");
  EXPECT_FALSE(status.plan);
  EXPECT_EQ(status.membership->reason, "Finish");
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty()) << "cleanPodPolicy All";
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"maxSize":4}})");
  w.cluster.settle(minutes(1));
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
}

TEST(TrainingController, counts_failures_of_the_program_up_to_the_limit) {
  World w(4);
  w.make(job("bert", bounds(1, 1) + R"("runPolicy":{"backoffLimit":2,"cleanPodPolicy":"None"},)",
             R"("codeflare.dev/duration":"5s","codeflare.dev/exit-code":"3")"));
  w.cluster.settle(minutes(5));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Completed");
  EXPECT_EQ(status.reason, "BackoffLimitExceeded");
  EXPECT_EQ(status.restart_counts.user, 3);
  EXPECT_NE(status.message.find("exit code 3"), std::string::npos) << status.message;
}

TEST(TrainingController, a_deleted_pod_is_replaced_and_counts_for_nobody) {
  World w(2);
  w.make(job("bert", bounds(2, 2)));
  const auto before = w.running("bert");
  w.cluster.remove<model::Pod>("bert-worker-1");
  w.cluster.settle(minutes(2));
  const auto after = w.running("bert");
  EXPECT_EQ(after.size(), 2U);
  EXPECT_EQ(after.at("bert-worker-0"), before.at("bert-worker-0"));
  EXPECT_NE(after.at("bert-worker-1"), before.at("bert-worker-1"));
  EXPECT_EQ(w.status("bert").restart_counts.user, 0);
}

TEST(TrainingController, suspend_stops_the_pods_and_a_release_starts_them_again) {
  World w(2);
  w.make(job("bert", bounds(1, 2)));
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"runPolicy":{"suspend":true}}})");
  w.cluster.settle(minutes(2));
  EXPECT_EQ(w.status("bert").stage, "Suspended");
  EXPECT_FALSE(w.status("bert").plan);
  EXPECT_TRUE(w.running("bert").empty());
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"runPolicy":{"suspend":false}}})");
  w.cluster.settle(seconds(20));
  EXPECT_EQ(w.status("bert").stage, "Running");
  EXPECT_EQ(w.running("bert").size(), 2U);
}

TEST(TrainingController, a_wrong_spec_is_told_and_mended_by_apply) {
  World w(2);
  w.make(job("bert", bounds(1, 2) + R"("framework":"jax",)"));
  EXPECT_EQ(w.status("bert").stage, "WrongConfiguration");
  EXPECT_NE(w.status("bert").message.find("spec.framework: \"jax\" is unknown"), std::string::npos);
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  w.cluster.patch<model::TrainingJob>("bert", R"({"spec":{"framework":"pytorch"}})");
  w.cluster.settle(seconds(20));
  EXPECT_EQ(w.status("bert").stage, "Running");
}

TEST(TrainingController, a_job_that_does_not_fit_waits_with_numbers) {
  World w(2);
  w.make(job("bert", bounds(3, 4)));
  const model::TrainingJobStatus status = w.status("bert");
  EXPECT_EQ(status.stage, "Waiting");
  EXPECT_EQ(status.reason, "InsufficientResources");
  EXPECT_NE(status.message.find("needs 3 CPUs"), std::string::npos) << status.message;
}

TEST(TrainingController, is_at_rest_when_nothing_changes) {
  World w(2);
  w.make(job("bert", bounds(1, 2)));
  const auto before = w.cluster.read<model::TrainingJob>("bert").metadata.resource_version;
  w.cluster.settle(minutes(10));
  EXPECT_EQ(w.cluster.read<model::TrainingJob>("bert").metadata.resource_version, before);
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
