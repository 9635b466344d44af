#include "queue/testing/training_jobs.h"
#include "queue/training_work.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace codeflare::queue {
namespace {

using testing::amount;
using testing::training_job;

struct Mistake {
  const char* text;  // of the first problem, from its beginning
  std::function<void(model::TrainingJob&)> make;
  std::string unit{};
};

model::Container& container(model::TrainingJob& job) {
  return job.spec.replica_specs.pod_template.spec.containers[0];
}

const std::string kContainers = "spec.replicaSpecs.template.spec.containers";

const std::vector<Mistake>& mistakes() {
  using Job = model::TrainingJob;
  static const std::vector<Mistake> kMistakes = {
      {"spec.minSize: is 0; use 1 or more", [](Job& j) { j.spec.min_size = 0; }},
      {"spec.minSize: is -3; use 1 or more", [](Job& j) { j.spec.min_size = -3; }},
      {"spec.maxSize: is 1, below minSize 2; use 2 or more", [](Job& j) { j.spec.max_size = 1; }},
      {"spec.maxSize: is 200000; use at most 100000", [](Job& j) { j.spec.max_size = 200'000; }},
      {"spec.desiredSize: is 0; use 1 or more, or set runPolicy.suspend",
       [](Job& j) { j.spec.desired_size = 0; }},
      {"spec.sizeStep: is 0; use 1 or more", [](Job& j) { j.spec.size_step = 0; }},
      {"spec.sizeStep: is 3, which does not divide minSize 2; use 3 for minSize",
       [](Job& j) { j.spec.size_step = 3; }},
      {"spec.sizeStep: cannot be combined with spec.sizes",
       [](Job& j) {
         j.spec.sizes = {2, 4};
         j.spec.size_step = 2;
       }},
      {"spec.sizes[1]: is 2 after 2; list sizes in ascending order",
       [](Job& j) { j.spec.sizes = {2, 2, 4}; }},
      {"spec.sizes[0]: is 0; use 1 or more", [](Job& j) { j.spec.sizes = {0, 2, 4}; }},
      {"spec.sizes: does not have maxSize 4; add it", [](Job& j) { j.spec.sizes = {2, 3}; }},
      {"spec.sizes: does not have minSize 2; add it", [](Job& j) { j.spec.sizes = {3, 4}; }},
      {"spec.framework: \"jax\" is unknown; use one of pytorch, tensorflow, generic",
       [](Job& j) { j.spec.framework = "jax"; }},
      {"spec.replicaSpecs.restartPolicy: \"Sometimes\" is unknown",
       [](Job& j) { j.spec.replica_specs.restart_policy = "Sometimes"; }},
      {"spec.runPolicy.cleanPodPolicy: \"all\" is unknown; use one of All, Running, None",
       [](Job& j) { j.spec.run_policy.clean_pod_policy = "all"; }},
      {"spec.elastic.rdzvBackend: \"zeus\" is unknown",
       [](Job& j) { j.spec.elastic.rdzv_backend = "zeus"; }},
      {"spec.checkpoint.type: \"nfs\" is unknown", [](Job& j) { j.spec.checkpoint.type = "nfs"; }},
      {"spec.nprocPerNode: \"many\" is unknown; use auto, gpu, cpu or a number from 1",
       [](Job& j) { j.spec.nproc_per_node = model::IntOrString::of("many"); }},
      {"spec.nprocPerNode: \"0\" is unknown",
       [](Job& j) { j.spec.nproc_per_node = model::IntOrString::of(0); }},
      {"spec.runPolicy.backoffLimit: is -1; use 0 or more",
       [](Job& j) { j.spec.run_policy.backoff_limit = -1; }},
      {"spec.runPolicy.activeDeadlineSeconds: is 0; use 1 or more",
       [](Job& j) { j.spec.run_policy.active_deadline_seconds = 0; }},
      {"spec.runPolicy.ttlSecondsAfterFinished: is -5; use 0 or more",
       [](Job& j) { j.spec.run_policy.ttl_seconds_after_finished = -5; }},
      {"spec.elastic.gracePeriodSeconds: is -1; use 0 or more",
       [](Job& j) { j.spec.elastic.grace_period_seconds = -1; }},
      {"spec.checkpoint.keep: is 0; use 1 or more", [](Job& j) { j.spec.checkpoint.keep = 0; }},
      {"metadata.name: has 60 characters; use at most 49",
       [](Job& j) { j.metadata.name = std::string(60, 'a'); }},
      {"metadata.name: \"1st\" is not a DNS-1035 label; begin with a letter",
       [](Job& j) { j.metadata.name = "1st"; }},
      {"spec.replicaSpecs.template.spec.containers: is empty; add a container",
       [](Job& j) { j.spec.replica_specs.pod_template.spec.containers.clear(); }},
      {"spec.replicaSpecs.template.spec.containers: has 0 containers with the name trainingjob",
       [](Job& j) { container(j).name = "main"; }},
      {"spec.replicaSpecs.template.spec.containers: has 2 containers with the name trainingjob",
       [](Job& j) {
         auto& all = j.spec.replica_specs.pod_template.spec.containers;
         all.push_back(model::Container(all[0]));
       }},
      {"spec.replicaSpecs.template.spec.containers[0].image: is empty; name an image",
       [](Job& j) { container(j).image.clear(); }},
      {"spec.replicaSpecs.template.spec.containers[0].command: is empty, but spec.injectLattice",
       [](Job& j) { j.spec.inject_lattice = true; }},
      {"spec.injectLattice: is true, but spec.elastic.rdzvBackend is c10d, which agents cannot "
       "use; "
       "use kubernetes or etcd, or set injectLattice to false",
       [](Job& j) {
         j.spec.inject_lattice = true;
         j.spec.elastic.rdzv_backend = "c10d";
         container(j).command = {"train"};
       }},
      {"spec.injectLattice: is true, but spec.elastic.rdzvBackend is static",
       [](Job& j) {
         j.spec.inject_lattice = true;
         j.spec.elastic.rdzv_backend = "static";
         container(j).command = {"train"};
       }},
      {"spec.replicaSpecs.template.spec.containers[0].resources.limits[nvidia.com/gpu]: is missing",
       [](Job&) {}, "nvidia.com/gpu"},
      {"spec.replicaSpecs.template.spec.containers[0].resources.requests[nvidia.com/gpu]: is "
       "missing",
       [](Job& j) { container(j).resources.limits.set("nvidia.com/gpu", amount("2")); },
       "nvidia.com/gpu"},
      {"spec.replicaSpecs.template.spec.containers[0].resources.requests[cpu]: is 2 and the limit "
       "is 1; set both to the same number",
       [](Job& j) { container(j).resources.requests.set("cpu", amount("2")); }, "cpu"},
  };
  return kMistakes;
}

TEST(TrainingProblems, each_mistake_is_told_with_field_numbers_and_fix) {
  ASSERT_GE(mistakes().size(), 30U);
  for (const Mistake& mistake : mistakes()) {
    model::TrainingJob job = training_job("bert", 2, 4);
    EXPECT_TRUE(problems_of(job, {}).empty());
    mistake.make(job);
    const std::vector<std::string> problems = problems_of(job, {.unit = mistake.unit});
    ASSERT_FALSE(problems.empty()) << mistake.text;
    EXPECT_TRUE(problems.front().starts_with(mistake.text)) << problems.front();
    EXPECT_NE(problems.front().find("; "), std::string::npos) << "no fix: " << problems.front();
  }
}

TEST(TrainingProblems, none_in_what_the_original_accepts) {
  model::TrainingJob job = training_job("bert", 1, 8);
  job.spec.inject_lattice = true;
  job.spec.framework = "pytorch";
  job.spec.priority = 7;
  job.spec.nproc_per_node = model::IntOrString::of("4");
  container(job).command = {"python", "train.py"};
  job.spec.run_policy.clean_pod_policy = "All";
  EXPECT_TRUE(problems_of(job, {}).empty());
  EXPECT_TRUE(problems_of(job, {.unit = "node"}).empty());
  EXPECT_TRUE(problems_of(job, {.unit = "cpu"}).empty());
}

TEST(TrainingSizes, have_defaults_a_step_a_list_and_a_ceiling) {
  model::TrainingJobSpec spec;
  EXPECT_EQ(sizes_of(spec), (sched::Sizes{.min = 1, .max = 1}));
  spec.min_size = 2;
  EXPECT_EQ(sizes_of(spec), (sched::Sizes{.min = 2, .max = 2}));
  spec.max_size = 8;
  spec.size_step = 2;
  EXPECT_EQ(sizes_of(spec), (sched::Sizes{.min = 2, .max = 8, .step = 2}));
  spec.desired_size = 5;
  EXPECT_EQ(sizes_of(spec), (sched::Sizes{.min = 2, .max = 4, .step = 2}));
  spec.desired_size = 1;
  EXPECT_EQ(sizes_of(spec), (sched::Sizes{.min = 2, .max = 2, .step = 2}));
  spec.size_step.reset();
  spec.sizes = {2, 4, 8};
  spec.desired_size = 7;
  EXPECT_EQ(sizes_of(spec), (sched::Sizes{.min = 2, .max = 4, .list = {2, 4}}));
}

}  // namespace
}  // namespace codeflare::queue
