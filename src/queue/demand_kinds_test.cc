#include "queue/demand.h"
#include "queue/marks.h"
#include "queue/testing/wrappers.h"

#include <gtest/gtest.h>

#include <string>

// Demand that is read from templates alone.
namespace codeflare::queue {
namespace {

using testing::pod_template;
using testing::text;
using testing::wrapper;
using testing::wrapping;

std::string kind(std::string_view api_version, std::string_view name, std::string_view spec) {
  return R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" + std::string(name) +
         R"(","metadata":{"name":"it"},"spec":)" + std::string(spec) + "}";
}

std::string demand_text(std::string_view api_version, std::string_view name,
                        std::string_view spec) {
  return text(demand_of(wrapping(kind(api_version, name, spec))));
}

const std::string kOneCpu = pod_template(R"({"cpu":"1"})");

TEST(DemandKinds, a_pod_runs_once) {
  EXPECT_EQ(demand_text("v1", "Pod", R"({"containers":[{"name":"a","resources":{"requests":
      {"cpu":"250m","memory":"1Ki"}}},{"name":"b","resources":{"limits":{"nvidia.com/gpu":2}}}]})"),
            "'' x1 of 1 cpu=250 memory=1024 nvidia.com/gpu=2 pods=1");
}

TEST(DemandKinds, init_containers_and_overhead_count) {
  EXPECT_EQ(demand_text("v1", "Pod", R"({"overhead":{"memory":"10"},
      "initContainers":[{"name":"i","resources":{"requests":{"cpu":"2"}}}],
      "containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"100"}}}]})"),
            "'' x1 of 1 cpu=2000 memory=110 pods=1");
}

TEST(DemandKinds, amounts_are_rounded_up) {
  EXPECT_EQ(demand_text("v1", "Pod", R"({"containers":[{"name":"a","resources":{"requests":
      {"cpu":"100u","memory":"1500m","kubernetes.io/x":"1m"}}}]})"),
            "'' x1 of 1 cpu=1 kubernetes.io/x=1 memory=2 pods=1");
}

TEST(DemandKinds, a_job_runs_the_smaller_of_parallelism_and_completions) {
  const auto job = [](std::string_view counts) {
    return demand_text("batch/v1", "Job",
                       "{" + std::string(counts) + R"("template":)" + kOneCpu + "}");
  };
  EXPECT_EQ(job(""), "'/spec/template' x1 of 1 cpu=1000 pods=1");
  EXPECT_EQ(job(R"("parallelism":3,"completions":10,)"),
            "'/spec/template' x3 of 10 cpu=1000 pods=1");
  EXPECT_EQ(job(R"("parallelism":8,"completions":2,)"), "'/spec/template' x2 of 2 cpu=1000 pods=1");
  EXPECT_EQ(job(R"("completions":5,)"), "'/spec/template' x1 of 5 cpu=1000 pods=1");
  EXPECT_EQ(job(R"("parallelism":4,)"), "'/spec/template' x4 cpu=1000 pods=1");
  EXPECT_EQ(job(R"("parallelism":0,)"), "'/spec/template' x0 cpu=1000 pods=1");
  EXPECT_EQ(job(R"("parallelism":2,"completions":null,"suspend":true,)"),
            "'/spec/template' x2 cpu=1000 pods=1");
}

TEST(DemandKinds, deployments_and_their_like_default_to_one_replica) {
  for (const std::string_view name : {"Deployment", "StatefulSet", "ReplicaSet"}) {
    EXPECT_EQ(demand_text("apps/v1", name, R"({"template":)" + kOneCpu + "}"),
              "'/spec/template' x1 cpu=1000 pods=1");
    EXPECT_EQ(demand_text("apps/v1", name, R"({"replicas":3,"template":)" + kOneCpu + "}"),
              "'/spec/template' x3 cpu=1000 pods=1");
  }
}

TEST(DemandKinds, a_ray_cluster_is_a_head_and_groups_of_workers) {
  const std::string spec =
      R"({"rayVersion":"2.5.0","headGroupSpec":{"rayStartParams":{},"template":)" + kOneCpu +
      R"(},"workerGroupSpecs":[
      {"groupName":"small","replicas":2,"minReplicas":0,"maxReplicas":4,"rayStartParams":{},
       "template":)" +
      pod_template(R"({"cpu":"2","memory":"2G"})") + R"(},
      {"groupName":"hosts","replicas":3,"numOfHosts":2,"template":)" +
      pod_template(R"({"cpu":"4","memory":"1G"})") + R"(},
      {"groupName":"autoscaled","template":)" +
      pod_template(R"({"memory":"1G"})") + "}]}";
  const std::string expected =
      "'/spec/headGroupSpec/template' x1 cpu=1000 pods=1\n"
      "'/spec/workerGroupSpecs/0/template' x2 cpu=2000 memory=2000000000 pods=1\n"
      "'/spec/workerGroupSpecs/1/template' x6 cpu=4000 memory=1000000000 pods=1\n"
      // KubeRay lets workers wait in a container of 200m until the head answers.
      "'/spec/workerGroupSpecs/2/template' x0 cpu=200 memory=1000000000 pods=1";
  EXPECT_EQ(demand_text("ray.io/v1", "RayCluster", spec), expected);
  EXPECT_EQ(demand_text("ray.io/v1alpha1", "RayCluster", spec), expected);
}

TEST(DemandKinds, the_autoscaler_runs_beside_the_head) {
  const auto cluster = [](std::string_view options) {
    return demand_text("ray.io/v1", "RayCluster",
                       R"({"enableInTreeAutoscaling":true,)" + std::string(options) +
                           R"("headGroupSpec":{"template":)" +
                           pod_template(R"({"cpu":"1","memory":"1Gi"})") + "}}");
  };
  EXPECT_EQ(cluster(""), "'/spec/headGroupSpec/template' x1 cpu=1500 memory=1610612736 pods=1");
  EXPECT_EQ(cluster(R"("autoscalerOptions":{"resources":{"requests":{"cpu":"100m"}}},)"),
            "'/spec/headGroupSpec/template' x1 cpu=1100 memory=1073741824 pods=1");
}

TEST(DemandKinds, a_ray_job_has_a_submitter_pod_only_when_a_job_submits_it) {
  const auto job = [](std::string_view more) {
    return demand_text("ray.io/v1", "RayJob",
                       "{" + std::string(more) +
                           R"("rayClusterSpec":{"headGroupSpec":{"template":)" + kOneCpu + "}}}");
  };
  const std::string head = "'/spec/rayClusterSpec/headGroupSpec/template' x1 cpu=1000 pods=1";
  const std::string submitter =
      "\n'/spec/submitterPodTemplate' x1 of 1 cpu=500 memory=209715200 pods=1";
  EXPECT_EQ(job(""), head + submitter);
  EXPECT_EQ(job(R"("submissionMode":"K8sJobMode",)"), head + submitter);
  EXPECT_EQ(job(R"("submissionMode":"HTTPMode",)"), head);
  EXPECT_EQ(job(R"("submissionMode":"InteractiveMode",)"), head);
  EXPECT_EQ(job(R"("submissionMode":"SidecarMode",)"),
            "'/spec/rayClusterSpec/headGroupSpec/template' x1 cpu=1500 memory=209715200 pods=1");
  EXPECT_EQ(job(R"("submitterPodTemplate":)" + pod_template(R"({"cpu":"50m"})") + ","),
            head + "\n'/spec/submitterPodTemplate' x1 of 1 cpu=50 pods=1");
}

TEST(DemandKinds, a_ray_job_on_a_cluster_that_exists_asks_for_its_submitter_alone) {
  EXPECT_EQ(demand_text("ray.io/v1", "RayJob", R"({"clusterSelector":{"ray.io/cluster":"x"}})"),
            "- x1 of 1 cpu=500 memory=209715200 pods=1");
}

TEST(DemandKinds, a_pytorch_job_has_roles) {
  EXPECT_EQ(demand_text("kubeflow.org/v1", "PyTorchJob",
                        R"({"pytorchReplicaSpecs":{"Worker":{"replicas":3,"template":)" +
                            pod_template(R"({"memory":8})") + R"(},"Master":{"template":)" +
                            kOneCpu + "}}}"),
            "'/spec/pytorchReplicaSpecs/Master/template' x1 cpu=1000 pods=1\n"
            "'/spec/pytorchReplicaSpecs/Worker/template' x3 memory=8 pods=1");
}

TEST(DemandKinds, a_job_set_multiplies_its_jobs) {
  EXPECT_EQ(demand_text("jobset.x-k8s.io/v1alpha2", "JobSet",
                        R"({"replicatedJobs":[
        {"name":"driver","template":{"spec":{"template":)" +
                            kOneCpu + R"(}}},
        {"name":"workers","replicas":2,"template":{"spec":{"parallelism":4,"completions":4,
         "template":)" + kOneCpu +
                            "}}}]}"),
            "'/spec/replicatedJobs/0/template/spec/template' x1 of 1 cpu=1000 pods=1\n"
            "'/spec/replicatedJobs/1/template/spec/template' x8 of 8 cpu=1000 pods=1");
}

TEST(DemandKinds, other_kinds_ask_for_nothing_by_themselves) {
  EXPECT_EQ(text(demand_of(wrapping(R"({"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"c"},"data":{"a":"b"}})"))),
            "");
  EXPECT_EQ(demand_text("example.com/v1", "Pod", R"({"containers":[{"name":"c"}]})"), "");
  EXPECT_EQ(demand_text("example.com/v1", "Trainer", R"({"template":)" + kOneCpu + "}"), "");
}

TEST(DemandKinds, items_are_told_as_they_will_be_created) {
  const Result<Demand> demand = demand_of(wrapper(
      R"({"generictemplate":{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"}}},
         {"generictemplate":{"apiVersion":"batch/v1","kind":"Job",
          "metadata":{"name":"j","namespace":"ml"},"spec":{"template":)" +
      kOneCpu + "}}}"));
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  ASSERT_EQ(demand->items.size(), 2u);
  EXPECT_EQ(demand->items[0].key.to_string(), "ml/s");
  EXPECT_EQ(demand->items[0].kind, "Service");
  EXPECT_EQ(demand->items[1].api_version, "batch/v1");
  ASSERT_EQ(demand->pod_sets.size(), 1u);
  EXPECT_EQ(demand->pod_sets[0].item, 1u);
}

TEST(DemandKinds, a_generated_name_depends_on_uid_and_position_alone) {
  const std::string items = R"({"generictemplate":{"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"generateName":"run-"}}},{"generictemplate":{"apiVersion":"v1",
      "kind":"ConfigMap","metadata":{"generateName":"run-"}}})";
  model::AppWrapper one = wrapper(items);
  const std::string name = demand_of(one)->items[0].key.name;
  EXPECT_EQ(name.size(), 12u);
  EXPECT_TRUE(name.starts_with("run-")) << name;
  EXPECT_EQ(demand_of(one)->items[0].key.name, name);
  EXPECT_NE(demand_of(one)->items[1].key.name, name);
  one.metadata.uid = "u-2";
  EXPECT_NE(demand_of(one)->items[0].key.name, name);
}

TEST(DemandKinds, constraints_come_from_the_template_and_the_wrapper) {
  const Result<Demand> demand =
      demand_of(wrapping(kind("v1", "Pod", R"({"containers":[{"name":"c"}],"nodeName":"n7",
        "nodeSelector":{"gpu":"a100"},
        "tolerations":[{"operator":"Exists"},
                       {"key":"k","value":"v","effect":"NoExecute","tolerationSeconds":5}],
        "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
          {"nodeSelectorTerms":[
            {"matchExpressions":[{"key":"zone","operator":"NotIn","values":["a","b"]},
                                 {"key":"cores","operator":"Gt","values":["8"]}]},
            {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}}})"),
                         R"("schedulingSpec":{"nodeSelector":{"pool":"ml","gpu":"a100"}},)"));
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  const sched::PodSet& pods = demand->pod_sets[0].pods;
  EXPECT_EQ(pods.selector,
            (sched::Labels{{"gpu", "a100"}, {std::string(kNodeNameKey), "n7"}, {"pool", "ml"}}));
  ASSERT_EQ(pods.affinity.size(), 2u);
  EXPECT_EQ(pods.affinity[0].requirements[0].op, sched::Operator::not_in);
  EXPECT_EQ(pods.affinity[0].requirements[1].op, sched::Operator::gt);
  EXPECT_EQ(pods.affinity[1].requirements[0].key, kNodeNameKey);
  ASSERT_EQ(pods.tolerations.size(), 2u);
  EXPECT_TRUE(pods.tolerations[0].exists);
  EXPECT_FALSE(pods.tolerations[0].effect.has_value());
  EXPECT_EQ(pods.tolerations[1].effect, sched::Effect::no_execute);
  EXPECT_EQ(pods.tolerations[1].value, "v");
}

TEST(DemandKinds, quota_is_charged_requests_limits_and_pods) {
  const Result<Demand> demand = demand_of(wrapping(kind("v1", "Pod", R"({"containers":[
      {"name":"c","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2","memory":"1Ki"}}}]})")));
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  EXPECT_EQ(text(*demand->pod_sets[0].pods.charge),
            "cpu=1000 limits.cpu=2000 limits.memory=1024 memory=1024 pods=1");
  EXPECT_EQ(text(demand->pod_sets[0].pods.requests), "cpu=1000 memory=1024 pods=1");
}

std::string training(std::string_view sizes, std::string_view more = "") {
  return kind("breezeml.ai/v1", "TrainingJob",
              "{" + std::string(sizes) + R"("replicaSpecs":{"template":{"spec":{"containers":[)" +
                  R"({"name":"trainingjob","image":"i","resources":{"requests":{"cpu":"1"}}}]}}})" +
                  std::string(more) + "}");
}

TEST(DemandKinds, a_training_job_alone_is_elastic_from_its_minimum_on) {
  const auto demand =
      demand_of(wrapping(training(R"("minSize":2,"maxSize":6,"sizeStep":2,"queue":"nlp",)")));
  EXPECT_EQ(text(demand), "'/spec/replicaSpecs/template' x2 cpu=1000 pods=1");
  EXPECT_EQ(demand->pod_sets[0].pods.sizes, (sched::Sizes{.min = 2, .max = 6, .step = 2}));
  EXPECT_EQ(demand->queue, "nlp");
  EXPECT_TRUE(demand->pod_sets[0].training);
  EXPECT_EQ(demand->items[0].life, Life::ends);
}

TEST(DemandKinds, a_training_job_beside_other_pods_keeps_its_minimum) {
  const std::string job = R"({"generictemplate":)" + training(R"("minSize":2,"maxSize":6,)") + "}";
  const auto demand =
      demand_of(wrapper(job + R"(,{"generictemplate":)" +
                        kind("batch/v1", "Job", R"({"template":)" + kOneCpu + "}") + "}"));
  ASSERT_EQ(demand->pod_sets.size(), 2U);
  EXPECT_EQ(demand->pod_sets[0].pods.count, 2);
  EXPECT_FALSE(demand->pod_sets[0].pods.sizes);
}

TEST(DemandKinds, mistakes_of_a_wrapped_training_job_are_told_by_field) {
  EXPECT_EQ(text(demand_of(wrapping(training(R"("minSize":4,"maxSize":2,)")))),
            "spec.resources.GenericItems[0].generictemplate.spec.maxSize: is 2, below minSize 4; "
            "use 4 or more");
  EXPECT_EQ(text(demand_of(wrapping(training("", R"(,"runPolicy":{"suspend":true})")))),
            "spec.resources.GenericItems[0].generictemplate.spec.runPolicy.suspend: cannot be true "
            "inside an AppWrapper; set spec.suspend of the AppWrapper");
}

}  // namespace
}  // namespace codeflare::queue
