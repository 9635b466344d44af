#include "controllers/rayjob/rayjob_controller.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/job/job_controller.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/rayjob/testing/proxied_api.h"
#include "controllers/rayjob/testing/sample.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/apps.h"
#include "model/codec/job.h"
#include "model/codec/pod.h"
#include "model/codec/ray_job.h"
#include "model/codec/service.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::rayjob {
namespace {

using ray::testing::FakeDashboard;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ProxiedApi;
using testing::sample;

// RayJobs, RayClusters and Jobs on a fake node; binding is done by hand.
struct World {
  controllers::testing::EmbeddedCluster cluster;
  ProxiedApi api{cluster.env, cluster.service()};

  World() {
    auto crds = *run(cluster.env.loop, ensure_crds(cluster.client, {.ray_cluster = true}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    auto nodes = *run(cluster.env.loop, fakenode::register_fake_nodes(cluster.client, {}));
    EXPECT_TRUE(nodes) << nodes.error().to_string();
    fakenode::add_fake_node_controllers(cluster.manager);
    job::add_job_controller(cluster.manager);
    add_ray_controllers(
        cluster.manager, api,
        {.kuberay = std::make_shared<raycluster::KubeRayWatch>(cluster.client, Logger())});
    cluster.start();
  }
  void make(const std::string& body) {
    cluster.create<model::RayJob>(body);
    settle();
  }
  // Binds what is not bound, for `rounds` half seconds.
  void settle(int rounds = 10) {
    for (int round = 0; round < rounds; ++round) {
      cluster.settle(milliseconds(500));
      for (const model::Pod& pod : cluster.list<model::Pod>()) {
        if (pod.spec.node_name.empty() && !pod.metadata.deleting()) {
          auto bound = *run(
              cluster.env.loop,
              cluster.client.post(model::resource_type<model::Pod>(), pod.metadata.key(), "binding",
                                  R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")" +
                                      pod.metadata.name +
                                      R"("},"target":{"kind":"Node","name":"codeflare-fake-0"}})"));
          EXPECT_TRUE(bound) << bound.error().to_string();
        }
      }
    }
  }
  model::RayJob read() { return cluster.read<model::RayJob>("train"); }
  model::RayJobStatus status() { return read().status; }
  FakeDashboard& dashboard() { return api.of(status().ray_cluster_name); }
  // The work of the submitter's pod where pods are real.
  void submit() {
    dashboard().jobs[status().job_id] = {.body = "",
                                         .entrypoint = "python train.py",
                                         .metadata = "{}",
                                         .started = cluster.env.loop.now()};
  }
};

// A submitter that ends by itself after some seconds.
const std::string kSubmitter =
    R"("submitterPodTemplate":{"metadata":{"annotations":{"codeflare.dev/duration":"8s"}},"spec":{
      "containers":[{"name":"s","image":"ray:2.60.0"}]}},)";

TEST(RayJobController, runs_a_job_and_tears_its_cluster_down) {
  World w;
  w.make(sample(kSubmitter + "\"shutdownAfterJobFinishes\":true,"));
  EXPECT_EQ(w.status().job_deployment_status, "Running");
  EXPECT_EQ(w.cluster.read<model::Service>("train-head-svc").spec.selector.at("ray.io/cluster"),
            w.status().ray_cluster_name);
  w.submit();
  w.settle(8);
  EXPECT_EQ(w.status().job_status, "RUNNING");
  EXPECT_EQ(w.status().ray_cluster_status->state, "ready");
  w.settle(30);
  EXPECT_EQ(w.status().job_status, "SUCCEEDED");
  EXPECT_EQ(w.status().job_deployment_status, "Complete");
  EXPECT_EQ(w.status().succeeded, 1);
  EXPECT_TRUE(w.cluster.list<model::RayCluster>().empty());
  // The submitter stays for its log.
  ASSERT_EQ(w.cluster.list<model::Pod>().size(), 1u);
  EXPECT_EQ(w.cluster.list<model::Pod>()[0].status.phase, "Succeeded");
  const std::string before = w.read().metadata.resource_version;
  w.settle(20);
  EXPECT_EQ(w.read().metadata.resource_version, before);
}

TEST(RayJobController, submits_itself_in_http_mode_and_only_once) {
  World w;
  w.make(sample(R"("submissionMode":"HTTPMode","runtimeEnvYAML":"env_vars: {A: b}",)"));
  w.settle(20);
  EXPECT_EQ(w.dashboard().accepted, 1);
  const FakeDashboard::Record& record = w.dashboard().jobs.at(w.status().job_id);
  EXPECT_TRUE(record.body.contains(R"("runtime_env":{"env_vars":{"A":"b"}})")) << record.body;
  EXPECT_EQ(w.status().job_deployment_status, "Complete");
  EXPECT_TRUE(w.cluster.list<model::Job>().empty());
  // Nobody asked for its end.
  EXPECT_EQ(w.cluster.list<model::RayCluster>().size(), 1u);
}

TEST(RayJobController, tries_again_on_another_cluster) {
  World w;
  w.api.options.final_status = "FAILED";
  w.make(sample(R"("submissionMode":"HTTPMode","backoffLimit":1,)"));
  const std::string first = w.status().ray_cluster_name;
  w.settle(80);
  EXPECT_EQ(w.status().job_deployment_status, "Failed");
  EXPECT_EQ(w.status().reason, "AppFailed");
  EXPECT_EQ(w.status().failed, 2);
  EXPECT_NE(w.status().ray_cluster_name, first);
  EXPECT_EQ(w.cluster.read<model::Service>("train-head-svc").spec.selector.at("ray.io/cluster"),
            w.status().ray_cluster_name);
  EXPECT_EQ(w.cluster.list<model::RayCluster>().size(), 1u);
}

TEST(RayJobController, stops_the_job_of_a_rayjob_that_is_deleted) {
  World w;
  w.api.options.lines = 10'000;
  w.make(sample("\"submissionMode\":\"HTTPMode\","));
  w.settle(10);
  FakeDashboard& dashboard = w.dashboard();
  const std::string id = w.status().job_id;
  ASSERT_TRUE(dashboard.jobs.contains(id));
  w.cluster.remove<model::RayJob>("train", {.propagation_policy = "Background"});
  w.settle(10);
  EXPECT_TRUE(dashboard.jobs.at(id).stopped);
  EXPECT_EQ(w.cluster.get<model::RayJob>("train"), nullptr);
  EXPECT_TRUE(w.cluster.list<model::RayCluster>().empty());
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
}

TEST(RayJobController, suspends_and_resumes) {
  World w;
  w.make(sample(kSubmitter + R"("shutdownAfterJobFinishes":true,"suspend":true,)"));
  EXPECT_EQ(w.status().job_deployment_status, "Suspended");
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  w.cluster.patch<model::RayJob>("train", R"({"spec":{"suspend":false}})");
  w.settle(10);
  EXPECT_EQ(w.status().job_deployment_status, "Running");
  w.cluster.patch<model::RayJob>("train", R"({"spec":{"suspend":true}})");
  w.settle(10);
  EXPECT_EQ(w.status().job_deployment_status, "Suspended");
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_TRUE(w.cluster.list<model::Job>().empty());
}

TEST(RayJobController, leaves_rayjobs_of_others_alone) {
  World w;
  w.make(sample(R"("managedBy":"kueue.x-k8s.io/multikueue",)"));
  EXPECT_EQ(w.status().job_deployment_status, "");
  EXPECT_TRUE(w.read().metadata.finalizers.empty());
}

TEST(RayJobController, gives_way_to_an_operator_that_comes_later) {
  World w;
  w.cluster.create<model::Deployment>(
      R"({"metadata":{"name":"kuberay-operator"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",)"
      R"("image":"x"}]}}}})");
  w.cluster.settle(std::chrono::minutes(2));
  w.make(sample());
  EXPECT_EQ(w.status().job_deployment_status, "");
}

}  // namespace
}  // namespace codeflare::controllers::rayjob
