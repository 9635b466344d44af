#include "controllers/rayjob/rayjob_objects.h"

#include "controllers/rayjob/testing/sample.h"
#include "model/codec/job.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::rayjob {
namespace {

using testing::sample_job;

model::RayJob named(const std::string& more = "") {
  model::RayJob job = sample_job(more);
  job.status.job_id = "train-id";
  job.status.ray_cluster_name = "train-abcde";
  job.status.dashboard_url = "train-abcde-head-svc.default.svc.cluster.local:8265";
  return job;
}

std::string variable(const model::Container& container, std::string_view name) {
  for (const model::EnvVar& known : container.env) {
    if (known.name == name) {
      return known.value;
    }
  }
  return "-";
}

TEST(RayJobObjects, the_cluster_is_kuberays) {
  const model::RayCluster cluster = cluster_of(named());
  EXPECT_EQ(cluster.metadata.name, "train-abcde");
  EXPECT_EQ(cluster.metadata.labels.at("ray.io/originated-from-cr-name"), "train");
  EXPECT_EQ(cluster.metadata.labels.at("ray.io/originated-from-crd"), "RayJob");
  EXPECT_EQ(cluster.metadata.labels.at("team"), "a");
  EXPECT_EQ(cluster.metadata.owner_references.at(0).uid, "job-uid");
  EXPECT_EQ(cluster.spec.ray_version, "2.60.0");
}

TEST(RayJobObjects, the_submitter_has_the_heads_image_and_the_request) {
  const model::RayJob job =
      named(R"("runtimeEnvYAML":"env_vars: {A: $(HOME)}","entrypointNumCpus":0.5,)");
  const model::Job submitter = *submitter_of(job, cluster_of(job));
  EXPECT_EQ(submitter.metadata.name, "train");
  EXPECT_EQ(submitter.spec.backoff_limit, 2);
  const model::PodSpec& pod = submitter.spec.pod_template.spec;
  EXPECT_EQ(pod.restart_policy, "Never");
  const model::Container& container = pod.containers.at(0);
  EXPECT_EQ(container.name, "ray-job-submitter");
  EXPECT_EQ(container.image, "ray:2.60.0");
  EXPECT_EQ(container.command.at(0), "python3");
  EXPECT_EQ(variable(container, "RAY_JOB_SUBMISSION_ID"), "train-id");
  EXPECT_EQ(variable(container, "RAY_DASHBOARD_ADDRESS"), job.status.dashboard_url);
  // Kubernetes reads $$ as a dollar.
  EXPECT_EQ(variable(container, "CODEFLARE_RAY_JOB"),
            R"x({"entrypoint":"python train.py","submission_id":"train-id",)x"
            R"x("runtime_env":{"env_vars":{"A":"$$(HOME)"}},"metadata":{},)x"
            R"x("entrypoint_num_cpus":0.5})x");
}

TEST(RayJobObjects, a_submitter_of_the_users_own_keeps_its_command) {
  const model::RayJob job = named(
      R"("submitterConfig":{"backoffLimit":5},"submitterPodTemplate":{"metadata":{"labels":{"q":"1"}},
      "spec":{"restartPolicy":"OnFailure","containers":[{"name":"mine","image":"i",
        "command":["./submit"],"env":[{"name":"RAY_JOB_SUBMISSION_ID","value":"other"}]}]}},)");
  const model::Job submitter = *submitter_of(job, cluster_of(job));
  EXPECT_EQ(submitter.spec.backoff_limit, 5);
  EXPECT_EQ(submitter.spec.pod_template.metadata.labels.at("q"), "1");
  const model::Container& container = submitter.spec.pod_template.spec.containers.at(0);
  EXPECT_EQ(submitter.spec.pod_template.spec.restart_policy, "OnFailure");
  EXPECT_EQ(container.command.at(0), "./submit");
  EXPECT_EQ(variable(container, "RAY_JOB_SUBMISSION_ID"), "train-id");
  EXPECT_EQ(variable(container, "CODEFLARE_RAY_JOB"), "-");
}

TEST(RayJobObjects, the_service_leads_to_the_head_of_the_cluster) {
  const model::RayJob job = named();
  const model::Service service = service_of(job, cluster_of(job));
  EXPECT_EQ(service.metadata.name, "train-head-svc");
  EXPECT_EQ(service.spec.selector.at("ray.io/cluster"), "train-abcde");
  EXPECT_EQ(service.metadata.owner_references.at(0).kind, "RayJob");
  EXPECT_FALSE(service.metadata.labels.contains("ray.io/cluster"));
}

}  // namespace
}  // namespace codeflare::controllers::rayjob
