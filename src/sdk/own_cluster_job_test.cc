#include "sdk/own_cluster_job.h"

#include "model/codec/app_wrapper.h"
#include "model/codec/ray_job.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

OwnClusterJob sample() {
  return {.job = {.name = "train", .command = "python train.py --rate $RATE", .num_cpus = 1},
          .cluster = {.ns = "team", .num_workers = 2, .priority = 5, .max_seconds = 3600},
          .runtime_env = R"({"pip":["emoji"]})"};
}

TEST(OwnClusterJob, the_ray_job_brings_its_cluster_and_its_submitter) {
  const model::RayJob job = *own_cluster_ray_job(sample());
  EXPECT_EQ(job.metadata.name, "train");
  EXPECT_EQ(job.spec.entrypoint, "python train.py --rate $RATE");
  EXPECT_EQ(job.spec.runtime_env_yaml, R"({"pip":["emoji"]})");
  EXPECT_EQ(job.spec.job_id, "train");
  EXPECT_TRUE(job.spec.shutdown_after_job_finishes);
  EXPECT_EQ(job.spec.ray_cluster_spec->worker_groups.at(0).replicas, 2);
  const model::PodTemplateSpec& pod = *job.spec.submitter_pod_template;
  EXPECT_EQ(pod.metadata.labels.at("codeflare.dev/job"), "train");
  const model::Container& container = pod.spec.containers.at(0);
  EXPECT_EQ(container.image, "rayproject/ray:2.60.0");
  EXPECT_EQ(container.env.at(0).value,
            R"({"entrypoint":"python train.py --rate $$RATE","submission_id":"train",)"
            R"("runtime_env":{"pip":["emoji"]},"metadata":{},"entrypoint_num_cpus":1})");
}

TEST(OwnClusterJob, the_wrapper_is_a_job_that_ends_with_its_ray_job) {
  OwnClusterJob own = sample();
  own.cluster.quota_labels = {{"tree", "gold"}};
  own.ttl_seconds = 60;
  const json::Document manifest = *own_cluster_manifest(own);
  const auto wrapper = model::from_json<model::AppWrapper>(manifest.root);
  ASSERT_TRUE(wrapper) << wrapper.error().to_string();
  EXPECT_EQ(wrapper->metadata.labels.at("codeflare.dev/job"), "train");
  EXPECT_EQ(wrapper->metadata.labels.at("codeflare.dev/backend"), "ray-own");
  EXPECT_EQ(wrapper->metadata.labels.at("tree"), "gold");
  EXPECT_EQ(wrapper->metadata.annotations.at("codeflare.dev/command"), own.job.command);
  EXPECT_EQ(wrapper->spec.priority, 5);
  EXPECT_EQ(wrapper->spec.ttl_seconds_after_finished, 60);
  ASSERT_EQ(wrapper->spec.resources.generic_items.size(), 1u);
  const model::GenericItem& item = wrapper->spec.resources.generic_items[0];
  EXPECT_EQ(item.completion_status, "Succeeded");
  EXPECT_TRUE(item.generic_template.text.contains(R"("kind":"RayJob")"));
}

TEST(OwnClusterJob, all_faults_of_the_cluster_are_reported_at_once) {
  OwnClusterJob own = sample();
  own.cluster.num_workers = -1;
  own.cluster.head_cpu_requests = "many";
  const Result<void> checked = check(own);
  ASSERT_FALSE(checked);
  EXPECT_TRUE(checked.error().message.contains("num_workers")) << checked.error().message;
  EXPECT_TRUE(checked.error().message.contains("head_cpu_requests")) << checked.error().message;
}

TEST(OwnClusterJob, what_cannot_be_run_is_said_with_the_way_out) {
  const auto problem = [](auto change) {
    OwnClusterJob own = sample();
    change(own);
    const Result<void> checked = check(own);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(problem([](OwnClusterJob&) {}), "");
  EXPECT_EQ(problem([](OwnClusterJob& own) { own.job.name = std::string(48, 'a'); }),
            "job '" + std::string(48, 'a') +
                "': the name has 48 characters; a job with a cluster of its own may have 47");
  EXPECT_TRUE(problem([](OwnClusterJob& own) { own.job.name = "Big"; }).contains("name: "));
  EXPECT_TRUE(problem([](OwnClusterJob& own) {
                own.job.command = " ";
              }).contains("the command is missing"));
  EXPECT_TRUE(problem([](OwnClusterJob& own) {
                own.cluster.queueing = Queueing::kueue;
              }).contains("leave out queueing kueue"));
}

}  // namespace
}  // namespace codeflare::sdk
