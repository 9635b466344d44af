#include "queue/demand.h"
#include "queue/marks.h"
#include "queue/testing/objects.h"
#include "queue/testing/wrappers.h"
#include "sched/core.h"

#include <gtest/gtest.h>

#include <string>

// Rejected AppWrappers; the message names the field.
namespace codeflare::queue {
namespace {

using testing::pod_template;
using testing::text;
using testing::wrapper;
using testing::wrapping;

const std::string kTemplate = "spec.resources.GenericItems[0].generictemplate";
constexpr std::string_view kConfigMap =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})";

// All problems, and that demand_of() tells of them too.
std::string problems(const model::AppWrapper& wrapper) {
  std::string out;
  for (const std::string& each : problems_of(wrapper)) {
    out += (out.empty() ? "" : "\n") + each;
  }
  EXPECT_EQ(demand_of(wrapper).has_value(), out.empty()) << out;
  return out;
}

std::string object(std::string_view api_version, std::string_view kind, std::string_view spec) {
  return R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" + std::string(kind) +
         R"(","metadata":{"name":"it"},"spec":)" + std::string(spec) + "}";
}

std::string of(std::string_view api_version, std::string_view kind, std::string_view spec) {
  return problems(wrapping(object(api_version, kind, spec)));
}

TEST(DemandRefusals, templates_that_are_no_objects) {
  EXPECT_EQ(problems(wrapper("{}")), kTemplate + ": required");
  EXPECT_EQ(problems(wrapping("[]")), kTemplate + ": expected an object, got array");
  EXPECT_EQ(problems(wrapping("\"x\"")), kTemplate + ": expected an object, got string");
  model::AppWrapper broken = wrapper("{}");
  broken.spec.resources.generic_items[0].generic_template.text = "{\"a\":";
  EXPECT_TRUE(problems(broken).starts_with(kTemplate + ": ")) << problems(broken);
}

TEST(DemandRefusals, type_and_name_are_needed) {
  EXPECT_EQ(problems(wrapping("{}")), kTemplate + ".apiVersion: required\n" + kTemplate +
                                          ".kind: required\n" + kTemplate + ".metadata: required");
  EXPECT_EQ(problems(wrapping(R"({"apiVersion":1,"kind":[],"metadata":{"name":{}}})")),
            kTemplate + ".apiVersion: expected a string\n" + kTemplate +
                ".kind: expected a string\n" + kTemplate + ".metadata.name: expected a string");
  EXPECT_EQ(problems(wrapping(R"({"apiVersion":"a/b/c","kind":"K","metadata":{}})")),
            kTemplate + ".apiVersion: expected VERSION or GROUP/VERSION\n" + kTemplate +
                ".metadata.name: required");
  EXPECT_EQ(problems(wrapping(R"({"apiVersion":"v1","kind":"K","metadata":"m"})")),
            kTemplate + ".metadata: expected an object");
  EXPECT_EQ(problems(wrapping(R"({"apiVersion":"v1","kind":"K","metadata":{"name":"a/b"}})")),
            kTemplate + ".metadata.name: must be at most 253 characters without / and %");
}

TEST(DemandRefusals, another_namespace) {
  const auto in = [](std::string_view ns) {
    return problems(wrapping(R"({"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"x","namespace":)" +
                             std::string(ns) + "}}"));
  };
  EXPECT_EQ(in("\"kube-system\""),
            kTemplate + ".metadata.namespace: must be the AppWrapper's own, ml, or be left out");
  EXPECT_EQ(in("7"), kTemplate + ".metadata.namespace: expected a string");
  EXPECT_EQ(in("\"ml\""), "");
  EXPECT_EQ(in("null"), "");
}

TEST(DemandRefusals, app_wrappers_and_lists_inside) {
  const auto kind = [](std::string_view api_version, std::string_view name) {
    return problems(wrapping(R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" +
                             std::string(name) + R"(","metadata":{"name":"x"}})"));
  };
  const std::string nested = kTemplate + ".kind: an AppWrapper cannot wrap an AppWrapper";
  EXPECT_EQ(kind("workload.codeflare.dev/v1beta1", "AppWrapper"), nested);
  EXPECT_EQ(kind("workload.codeflare.dev/v1beta2", "AppWrapper"), nested);
  EXPECT_EQ(kind("mcad.ibm.com/v1beta1", "AppWrapper"), nested);
  EXPECT_EQ(kind("example.com/v1", "AppWrapper"), "");
  EXPECT_EQ(kind("v1", "List"),
            kTemplate + ".kind: a List cannot be wrapped: wrap its items one by one");
}

TEST(DemandRefusals, labels_and_owners_that_cannot_be) {
  const auto with = [](std::string_view metadata) {
    return problems(wrapping(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x",)" +
                             std::string(metadata) + "}}"));
  };
  EXPECT_EQ(with(R"("labels":[])"), kTemplate + ".metadata.labels: expected an object");
  EXPECT_EQ(with(R"("labels":{"a":1})"), kTemplate + ".metadata.labels[a]: expected a string");
  EXPECT_EQ(with(R"("ownerReferences":{})"),
            kTemplate + ".metadata.ownerReferences: expected an array");
  EXPECT_EQ(with(R"("ownerReferences":[{"uid":"1"},{"uid":"2","controller":true}])"),
            kTemplate +
                ".metadata.ownerReferences[1].controller: must not be true: the AppWrapper "
                "is the controller");
}

TEST(DemandRefusals, an_app_wrapper_without_items) {
  EXPECT_EQ(problems(wrapper("")),
            "spec.resources.GenericItems: required: an AppWrapper needs at least one item");
}

TEST(DemandRefusals, names_that_labels_cannot_carry) {
  model::AppWrapper long_name = wrapping(kConfigMap);
  long_name.metadata.name = std::string(63, 'a');
  EXPECT_EQ(problems(long_name), "");
  long_name.metadata.name += "a";
  EXPECT_EQ(problems(long_name), "metadata.name: must be at most 63 characters, got 64");
}

TEST(DemandRefusals, one_object_twice) {
  const std::string job = R"({"generictemplate":{"apiVersion":"v1","kind":"ConfigMap",
    "metadata":{"name":"same"}}})";
  EXPECT_EQ(problems(wrapper(job + "," + job)),
            "spec.resources.GenericItems[1].generictemplate.metadata.name: the same object as in "
            "spec.resources.GenericItems[0]");
}

TEST(DemandRefusals, counts_that_are_negative_or_no_numbers) {
  const std::string pods = R"("template":)" + pod_template(R"({"cpu":"1"})") + "}";
  EXPECT_EQ(of("apps/v1", "Deployment", R"({"replicas":-3,)" + pods),
            kTemplate + ".spec.replicas: must not be negative, got -3");
  EXPECT_EQ(of("apps/v1", "Deployment", R"({"replicas":"3",)" + pods),
            kTemplate + ".spec.replicas: expected a whole number of 32 bits");
  EXPECT_EQ(of("apps/v1", "Deployment", R"({"replicas":99999999999,)" + pods),
            kTemplate + ".spec.replicas: expected a whole number of 32 bits");
  EXPECT_EQ(of("batch/v1", "Job", R"({"parallelism":1.5,)" + pods),
            kTemplate + ".spec.parallelism: expected a whole number of 32 bits");
  EXPECT_EQ(of("batch/v1", "Job", R"({"completions":-1,)" + pods),
            kTemplate + ".spec.completions: must not be negative, got -1");
  EXPECT_EQ(of("kubeflow.org/v1", "PyTorchJob",
               R"({"pytorchReplicaSpecs":{"Worker":{"replicas":-1,)" + pods + "}}"),
            kTemplate + ".spec.pytorchReplicaSpecs.Worker.replicas: must not be negative, got -1");
  EXPECT_EQ(of("jobset.x-k8s.io/v1alpha2", "JobSet",
               R"({"replicatedJobs":[{"replicas":-2,"template":{"spec":{)" + pods + "}}]}"),
            kTemplate + ".spec.replicatedJobs[0].replicas: must not be negative, got -2");
}

// {"<prefix>0":"1",...}
std::string many_resources(int count, const std::string& prefix) {
  std::string list = "{";
  for (int i = count; i-- > 0;) {
    list += (list.size() > 1 ? ",\"" : "\"") + prefix + std::to_string(i) + R"(":"1")";
  }
  return list + "}";
}

TEST(DemandRefusals, more_resources_than_anybody_needs) {
  const std::string entry = "spec.resources.GenericItems[0].custompodresources[0].requests";
  const auto declared = [](const std::string& requests) {
    return problems(wrapper(R"({"custompodresources":[{"replicas":1,"requests":)" + requests +
                            R"(}],"generictemplate":)" + object("x.io/v1", "X", "{}") + "}"));
  };
  EXPECT_EQ(declared(many_resources(64, "x.io/r")), "");
  EXPECT_EQ(declared(many_resources(20'000, "x.io/r")),
            entry + ": must name at most 64 resources, got 20000");
  EXPECT_TRUE(declared(R"({"a b":"1"})").starts_with(entry + "[a b]: "));
  const std::string job = R"({"template":)" + pod_template(many_resources(65, "x.io/r")) + "}";
  EXPECT_EQ(of("batch/v1", "Job", job),
            kTemplate +
                ".spec.template.spec.containers[0].resources.requests: must name at most "
                "64 resources, got 65");
  const auto set = [](const std::string& prefix) {
    return R"({"replicas":1,"requests":)" + many_resources(40, prefix) + "}";
  };
  EXPECT_EQ(problems(wrapper(R"({"custompodresources":[)" + set("x.io/a") + "," + set("x.io/b") +
                             R"(],"generictemplate":)" + object("x.io/v1", "X", "{}") + "}")),
            "spec.resources.GenericItems[0]: all items together name more than 64 different "
            "resources");
}

TEST(DemandRefusals, worker_groups_of_absurd_size) {
  const auto group = [](std::string_view counts) {
    const std::string pods = R"("template":)" + pod_template(R"({"cpu":"1"})") + "}";
    return of("ray.io/v1", "RayCluster",
              R"({"headGroupSpec":{)" + pods + R"(,"workerGroupSpecs":[{)" + std::string(counts) +
                  pods + "]}");
  };
  const std::string path = kTemplate + ".spec.workerGroupSpecs[0]";
  EXPECT_EQ(group(R"("replicas":-1,)"), path + ".replicas: must not be negative, got -1");
  EXPECT_EQ(group(R"("minReplicas":-1,"maxReplicas":-2,)"),
            path + ".minReplicas: must not be negative, got -1\n" + path +
                ".maxReplicas: must not be negative, got -2");
  EXPECT_EQ(group(R"("numOfHosts":-4,)"), path + ".numOfHosts: must not be negative, got -4");
  EXPECT_EQ(group(R"("replicas":"2",)"), path + ".replicas: expected a number, got a string");
  EXPECT_EQ(group(R"("replicas":2147483647,"numOfHosts":2147483647,)"),
            "spec.resources.GenericItems[0]: all items together have more than 1000000 pods");
}

TEST(DemandRefusals, names_that_nobody_could_make_services_and_pods_of) {
  const std::string head = R"("headGroupSpec":{"template":)" + pod_template("{}") + "}";
  const auto named = [&](const std::string& kind, const std::string& metadata) {
    const std::string spec =
        kind == "RayCluster" ? "{" + head + "}" : R"({"rayClusterSpec":{)" + head + "}}";
    return problems(wrapping(R"({"apiVersion":"ray.io/v1","kind":")" + kind + R"(","metadata":{)" +
                             metadata + R"(},"spec":)" + spec + "}"));
  };
  const auto name = [](std::size_t length) {
    return R"("name":")" + std::string(length, 'a') + R"(")";
  };
  const std::string field = kTemplate + ".metadata.name: ";
  EXPECT_EQ(named("RayCluster", name(53)), "");
  EXPECT_EQ(named("RayCluster", name(54)), field + "must be at most 53 characters, got 54");
  EXPECT_EQ(named("RayJob", name(47)), "");
  EXPECT_EQ(named("RayJob", name(48)), field + "must be at most 47 characters, got 48");
  EXPECT_TRUE(named("RayCluster", R"("name":"1st")").starts_with(field + "a DNS-1035 label"));
  EXPECT_TRUE(named("RayJob", R"("name":"a.b")").starts_with(field + "a DNS-1035 label"));
  const auto generated = [](std::size_t length) {
    return R"("generateName":")" + std::string(length - 1, 'a') + R"(-")";
  };
  EXPECT_EQ(named("RayCluster", generated(45)), "");
  EXPECT_EQ(named("RayCluster", generated(46)),
            kTemplate + ".metadata.generateName: must be at most 45 characters, got 46");
}

TEST(DemandRefusals, two_worker_groups_of_one_name) {
  const std::string pods = R"("template":)" + pod_template("{}") + "}";
  EXPECT_EQ(of("ray.io/v1", "RayCluster",
               R"({"headGroupSpec":{)" + pods + R"(,"workerGroupSpecs":[{"groupName":"w",)" + pods +
                   R"(,{"groupName":"w",)" + pods + "]}"),
            kTemplate + ".spec.workerGroupSpecs[1].groupName: another group is called w");
}

TEST(DemandRefusals, known_kinds_without_what_makes_pods) {
  EXPECT_EQ(problems(wrapping(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"}})")),
            kTemplate + ".spec: required");
  EXPECT_EQ(of("batch/v1", "Job", "[]"), kTemplate + ".spec: expected an object");
  EXPECT_EQ(of("batch/v1", "Job", "{}"), kTemplate + ".spec.template: required");
  EXPECT_EQ(of("batch/v1", "Job", R"({"template":"t"})"),
            kTemplate + ".spec.template: expected an object, got a string");
  EXPECT_EQ(of("v1", "Pod", "{}"), kTemplate + ".spec.containers: required");
  EXPECT_EQ(of("ray.io/v1", "RayCluster", "{}"),
            kTemplate + ".spec.headGroupSpec.template: required");
  EXPECT_EQ(of("ray.io/v1", "RayCluster", R"({"headGroupSpec":{"template":{"spec":{}}}})"),
            kTemplate + ".spec.headGroupSpec.template.spec.containers: required");
  EXPECT_EQ(of("ray.io/v1", "RayJob", "{}"),
            kTemplate + ".spec.rayClusterSpec: required without a clusterSelector");
  EXPECT_EQ(of("ray.io/v1", "RayJob", R"({"submissionMode":"Carrier","clusterSelector":{}})"),
            kTemplate +
                ".spec.submissionMode: must be one of K8sJobMode, HTTPMode, "
                "InteractiveMode, SidecarMode");
  EXPECT_EQ(of("kubeflow.org/v1", "PyTorchJob", "{}"),
            kTemplate + ".spec.pytorchReplicaSpecs: expected an object");
  EXPECT_EQ(of("jobset.x-k8s.io/v1alpha2", "JobSet", R"({"replicatedJobs":{}})"),
            kTemplate + ".spec.replicatedJobs: expected an array");
  EXPECT_EQ(of("jobset.x-k8s.io/v1alpha2", "JobSet", R"({"replicatedJobs":[7]})"),
            kTemplate + ".spec.replicatedJobs[0].template.spec.template: required");
}

TEST(DemandRefusals, amounts_that_are_negative_absurd_or_no_amounts) {
  const auto requests = [](std::string_view amounts) {
    return of("v1", "Pod",
              R"({"containers":[{"name":"a"},{"name":"c","resources":{"requests":)" +
                  std::string(amounts) + "}}]}");
  };
  const std::string path = kTemplate + ".spec.containers[1].resources.requests";
  EXPECT_EQ(requests(R"({"cpu":"-1"})"), path + "[cpu]: must not be negative, got -1");
  EXPECT_EQ(requests(R"({"cpu":"1e999"})"), path + "[cpu]: is more than can be counted");
  EXPECT_TRUE(requests(R"({"cpu":"many"})").starts_with(path + "[cpu]: "))
      << requests(R"({"cpu":"many"})");
  EXPECT_EQ(requests(R"({"nvidia.com/gpu":1.5})"),
            path + "[nvidia.com/gpu]: must be an integer, got 1500m");
  EXPECT_EQ(requests(R"({"nvidia.com/gpu":"1500m"})"),
            path + "[nvidia.com/gpu]: must be an integer, got 1500m");
  EXPECT_TRUE(requests(R"({"cpu":true})").starts_with(path + "[cpu]: expected a string"));
  EXPECT_TRUE(requests(R"([])").starts_with(path + ": expected an object"));
  EXPECT_TRUE(requests(R"({"memory":"2000P"})")
                  .starts_with(kTemplate + ": one pod requests too much memory: "))
      << requests(R"({"memory":"2000P"})");
  EXPECT_EQ(requests(R"({"example.com/x":"1e25"})"),
            path + "[example.com/x]: is more than can be counted");
  // Each amount can be counted, all of the pod together cannot.
  EXPECT_EQ(of("v1", "Pod",
               R"({"containers":[{"name":"a","resources":{"limits":{"x.com/y":"9E"}}},
                                 {"name":"b","resources":{"limits":{"x.com/y":"9E"}}}]})"),
            kTemplate + ": requests[x.com/y]: is more than can be counted");
  // Limits stand in for requests that are not there.
  EXPECT_EQ(of("v1", "Pod", R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"-1"}}}]})"),
            kTemplate + ".spec.containers[0].resources.limits[cpu]: must not be negative, got -1");
}

TEST(DemandRefusals, requests_that_their_limits_do_not_allow) {
  const auto container = [](const std::string& resources) {
    return of("v1", "Pod",
              R"({"containers":[{"name":"a"},{"name":"c","resources":)" + resources + "}]}");
  };
  const std::string path = kTemplate + ".spec.containers[1].resources";
  const std::string missing = "required: limit must be set for non overcommitable resources";
  EXPECT_EQ(
      of("batch/v1", "Job",
         R"({"template":)" + pod_template(R"({"cpu":"1","nvidia.com/gpu":"1"})") + "}"),
      kTemplate + ".spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]: " + missing);
  // A LimitRange may still give a Pod its limits.
  EXPECT_EQ(container(R"({"requests":{"cpu":"1","nvidia.com/gpu":"1"}})"), "");
  EXPECT_EQ(container(R"({"requests":{"nvidia.com/gpu":1},"limits":{"nvidia.com/gpu":"2"}})"),
            path + ".requests[nvidia.com/gpu]: must be equal to the limit of 2, got 1");
  EXPECT_EQ(container(R"({"requests":{"memory":"2Gi"},"limits":{"memory":"1Gi"}})"),
            path + ".requests[memory]: must be less than or equal to the limit of 1Gi, got 2Gi");
  EXPECT_EQ(container(R"({"requests":{"cpu":"1","nvidia.com/gpu":2,"memory":1},
                          "limits":{"cpu":"1","nvidia.com/gpu":"2","memory":2}})"),
            "");
  EXPECT_EQ(container(R"({"limits":{"nvidia.com/gpu":2}})"), "");
  EXPECT_EQ(of("batch/v1", "Job", R"({"template":{"spec":{"containers":[{"name":"a"}],
      "initContainers":[{"name":"b","resources":{"requests":{"hugepages-2Mi":"2Mi"}}}]}}})"),
            kTemplate + ".spec.template.spec.initContainers[0].resources.limits[hugepages-2Mi]: " +
                missing);
  EXPECT_EQ(of("v1", "Pod", R"({"containers":[{"name":"a"}],
      "resources":{"requests":{"cpu":2},"limits":{"cpu":"1"}}})"),
            kTemplate +
                ".spec.resources.requests[cpu]: must be less than or equal to the limit of 1, got "
                "2");
}

TEST(DemandRefusals, declared_amounts_and_counts) {
  const auto declared = [](std::string_view entry) {
    return problems(wrapper(R"({"custompodresources":[)" + std::string(entry) +
                            R"(],"generictemplate":{"apiVersion":"v1","kind":"ConfigMap",
                               "metadata":{"name":"c"}}})"));
  };
  const std::string path = "spec.resources.GenericItems[0].custompodresources[0]";
  EXPECT_EQ(declared(R"({"replicas":-1,"requests":{"cpu":"-2"},"limits":{"memory":"-3"}})"),
            path + ".replicas: must not be negative, got -1\n" + path +
                ".requests[cpu]: must not be negative, got -2\n" + path +
                ".limits[memory]: must not be negative, got -3");
  EXPECT_EQ(declared(R"({"replicas":1,"requests":{"cpu":"1e20"}})"),
            path + ".requests[cpu]: is more than can be counted");
  EXPECT_EQ(declared(R"({"replicas":1,"requests":{},"limits":{"nvidia.com/gpu":"0.5"}})"),
            path + ".limits[nvidia.com/gpu]: must be an integer, got 500m");
  EXPECT_EQ(declared(R"({"replicas":1000001,"requests":{"cpu":"1"}})"),
            "spec.resources.GenericItems[0]: all items together have more than 1000000 pods");
  EXPECT_EQ(declared(R"({"replicas":1000,"requests":{"memory":"900T"}})"),
            "spec.resources.GenericItems[0]: all items together request too much memory");
}

TEST(DemandRefusals, constraints_that_mean_nothing) {
  const auto pod = [](std::string_view constraints) {
    return of("v1", "Pod", "{" + std::string(constraints) + R"("containers":[{"name":"c"}]})");
  };
  EXPECT_EQ(pod(R"("tolerations":[{"key":"a","operator":"Maybe"}],)"),
            kTemplate + ".spec.tolerations[0].operator: must be Equal or Exists");
  EXPECT_EQ(pod(R"("tolerations":[{"key":"a","effect":"Sometimes"}],)"),
            kTemplate +
                ".spec.tolerations[0].effect: must be one of NoSchedule, PreferNoSchedule, "
                "NoExecute");
  const std::string terms =
      "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
      "nodeSelectorTerms";
  const auto affinity = [&](std::string_view list) {
    return pod(R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
      {"nodeSelectorTerms":)" +
               std::string(list) + "}}},");
  };
  EXPECT_EQ(affinity("[]"), kTemplate + ".spec." + terms + ": required");
  EXPECT_EQ(affinity(R"([{"matchExpressions":[{"key":"a","operator":"Like"}]}])"),
            kTemplate + ".spec." + terms +
                "[0].matchExpressions[0].operator: must be one of In, "
                "NotIn, Exists, DoesNotExist, Gt, Lt");
  EXPECT_EQ(affinity(R"([{"matchFields":[{"key":"spec.x","operator":"In","values":["1"]}]}])"),
            kTemplate + ".spec." + terms +
                "[0].matchFields[0].key: nodes are selected by metadata.name only");
}

TEST(DemandRefusals, a_selector_that_contradicts_the_wrappers) {
  EXPECT_EQ(problems(wrapping(object("v1", "Pod", R"({"nodeSelector":{"pool":"a"},
                              "containers":[{"name":"c"}]})"),
                              R"("schedulingSpec":{"nodeSelector":{"pool":"b"}},)")),
            kTemplate +
                ".spec.nodeSelector[pool]: contradicts "
                "spec.schedulingSpec.nodeSelector[pool]");
}

TEST(DemandRefusals, too_many_items_and_pod_sets) {
  model::AppWrapper many = wrapper("");
  many.spec.resources.generic_items.resize(1001);
  EXPECT_EQ(problems(many), "spec.resources.GenericItems: must have at most 1000 items, got 1001");

  model::AppWrapper sets = wrapper(R"({"custompodresources":[{"replicas":1,"requests":{}}],
    "generictemplate":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}})");
  auto& entries = sets.spec.resources.generic_items[0].custom_pod_resources;
  entries.resize(1001, entries[0]);
  EXPECT_EQ(problems(sets),
            "spec.resources.GenericItems[0]: has more than 1000 different pod sets");
}

TEST(DemandRefusals, scheduling_that_cannot_be_meant) {
  const auto told = [](std::string_view scheduling) {
    std::string out;
    for (const std::string& each : problems_of(
             wrapping(kConfigMap, R"("schedulingSpec":)" + std::string(scheduling) + ","))) {
      out += (out.empty() ? "" : "\n") + each;
    }
    return out;
  };
  EXPECT_EQ(told(R"({"minAvailable":-1})"),
            "spec.schedulingSpec.minAvailable: must not be negative, got -1");
  EXPECT_EQ(
      told(R"({"requeuing":{"timeInSeconds":-1,"maxTimeInSeconds":-2,
                     "maxNumRequeuings":-3,"forceDeletionTimeInSeconds":-4,"growthType":"cubic"}})"),
      "spec.schedulingSpec.requeuing.timeInSeconds: must not be negative, got -1\n"
      "spec.schedulingSpec.requeuing.maxTimeInSeconds: must not be negative, got -2\n"
      "spec.schedulingSpec.requeuing.maxNumRequeuings: must not be negative, got -3\n"
      "spec.schedulingSpec.requeuing.forceDeletionTimeInSeconds: must not be negative, got -4\n"
      "spec.schedulingSpec.requeuing.growthType: must be exponential, linear or none");
  EXPECT_EQ(told(R"({"dispatchDuration":{"limit":-1,"expected":-2}})"),
            "spec.schedulingSpec.dispatchDuration.limit: must not be negative, got -1\n"
            "spec.schedulingSpec.dispatchDuration.expected: must not be negative, got -2");
  EXPECT_TRUE(told(R"({"nodeSelector":{"a b":"c"}})")
                  .starts_with("spec.schedulingSpec.nodeSelector[a b]: "));
  EXPECT_EQ(told(R"({"requeuing":{"growthType":"linear"},"nodeSelector":{"zone":"a"}})"), "");
}

TEST(DemandRefusals, many_problems_are_told_as_one_and_a_number) {
  const Result<Demand> demand = demand_of(wrapping("{}"));
  ASSERT_FALSE(demand.has_value());
  EXPECT_EQ(demand.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(demand.error().message, kTemplate + ".apiVersion: required (and 2 more)");
  model::AppWrapper many = wrapper("");
  many.spec.resources.generic_items.resize(500);
  EXPECT_EQ(problems_of(many).size(), 100u);
}

// The bounds here are the core's: the core accepts every demand that passes.
TEST(DemandRefusals, what_is_accepted_the_core_accepts_too) {
  const Result<Demand> demand = demand_of(wrapper(
      R"({"custompodresources":[{"replicas":64,"requests":{"memory":"1125899906842624"}}],
          "generictemplate":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}})"));
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  sched::Core core;
  sched::GangSpec gang{.name = "g"};
  for (const PodSetDemand& set : demand->pod_sets) {
    gang.pod_sets.push_back(set.pods);
  }
  EXPECT_TRUE(core.submit(gang).has_value());
  gang.name = "h";
  gang.pod_sets[0].count = 65;
  EXPECT_FALSE(core.submit(gang).has_value());
}

TEST(DemandRefusals, a_within_annotation_that_is_no_label_key_is_named) {
  model::AppWrapper job = testing::wrapper("job", {{1, testing::resources("1")}});
  job.metadata.annotations.emplace(kWithinAnnotation, "zone,/bad");
  const auto demand = demand_of(job);
  ASSERT_FALSE(demand);
  EXPECT_NE(demand.error().message.find("metadata.annotations[workload.codeflare.dev/within]"),
            std::string::npos);
  EXPECT_NE(demand.error().message.find("topology.kubernetes.io/zone"), std::string::npos);
}

}  // namespace
}  // namespace codeflare::queue
