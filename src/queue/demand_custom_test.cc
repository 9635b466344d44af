#include "queue/demand.h"
#include "queue/testing/wrappers.h"

#include <gtest/gtest.h>

#include <string>

// custompodresources beside what templates say.
namespace codeflare::queue {
namespace {

using testing::pod_template;
using testing::text;
using testing::wrapper;

std::string item(std::string_view entries, std::string_view object) {
  return R"({"custompodresources":[)" + std::string(entries) + R"(],"generictemplate":)" +
         std::string(object) + "}";
}

std::string ray(std::string_view head, std::string_view workers) {
  return R"({"apiVersion":"ray.io/v1alpha1","kind":"RayCluster","metadata":{"name":"r"},"spec":{
    "headGroupSpec":{"template":)" +
         std::string(head) + R"(},"workerGroupSpecs":[
    {"groupName":"w","replicas":1,"template":)" +
         std::string(workers) + "}]}}";
}

const std::string kRay =
    ray(pod_template(R"({"cpu":"1","memory":"2G"})", R"("nodeSelector":{"r":"head"},)"),
        pod_template(R"({"cpu":"2","memory":"2G"})", R"("nodeSelector":{"r":"work"},)"));

TEST(DemandCustom, the_documented_ray_cluster_is_counted_once) {
  EXPECT_EQ(text(demand_of(wrapper(item(
                R"({"replicas":1,"requests":{"cpu":1,"memory":"2G","nvidia.com/gpu":0},
                    "limits":{"cpu":1,"memory":"2G","nvidia.com/gpu":0}},
                   {"replicas":1,"requests":{"cpu":2,"memory":"2G","nvidia.com/gpu":0},
                    "limits":{"cpu":2,"memory":"2G","nvidia.com/gpu":0}})",
                kRay)))),
            "'/spec/headGroupSpec/template' x1 cpu=1000 memory=2000000000 pods=1\n"
            "'/spec/workerGroupSpecs/0/template' x1 cpu=2000 memory=2000000000 pods=1");
}

TEST(DemandCustom, a_limit_stands_for_a_request_that_is_absent_or_zero) {
  EXPECT_EQ(text(demand_of(wrapper(item(R"({"replicas":2,"requests":{"cpu":"0","memory":"5"},
      "limits":{"cpu":"3","memory":"9","nvidia.com/gpu":"1"}})",
                                        R"({"apiVersion":"example.com/v1","kind":"Thing",
                                            "metadata":{"name":"t"}})")))),
            "- x2 cpu=3000 memory=5 nvidia.com/gpu=1 pods=1");
}

TEST(DemandCustom, counts_are_those_declared_and_the_larger_amount_is_reserved) {
  const Result<Demand> demand = demand_of(wrapper(
      item(R"({"replicas":4,"requests":{"cpu":"500m","memory":"4G"}},{"replicas":0,"requests":{}})",
           kRay)));
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  EXPECT_EQ(text(demand),
            "'/spec/headGroupSpec/template' x4 cpu=1000 memory=4000000000 pods=1\n"
            "'/spec/workerGroupSpecs/0/template' x0 cpu=2000 memory=2000000000 pods=1");
  EXPECT_EQ(text(*demand->pod_sets[0].pods.charge), "cpu=500 memory=4000000000 pods=1");
  EXPECT_EQ(demand->pod_sets[0].pods.selector, (sched::Labels{{"r", "head"}}));
}

TEST(DemandCustom, one_entry_goes_to_the_template_most_like_it) {
  const Result<Demand> demand =
      demand_of(wrapper(item(R"({"replicas":3,"requests":{"cpu":"1900m","memory":"2G"}})", kRay)));
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  ASSERT_EQ(demand->pod_sets.size(), 1u);
  EXPECT_EQ(demand->pod_sets[0].template_path, "/spec/workerGroupSpecs/0/template");
  EXPECT_EQ(demand->pod_sets[0].pods.selector, (sched::Labels{{"r", "work"}}));
}

TEST(DemandCustom, entries_that_meet_at_one_template_are_one_pod_set) {
  EXPECT_EQ(text(demand_of(wrapper(item(
                R"({"replicas":1,"requests":{"cpu":"2","memory":"2G"}},
                   {"replicas":2,"requests":{"cpu":"3","memory":"2G"}},
                   {"replicas":1,"requests":{"cpu":"1","memory":"2G"}})",
                kRay)))),
            "'/spec/workerGroupSpecs/0/template' x3 cpu=3000 memory=2000000000 pods=1\n"
            "'/spec/headGroupSpec/template' x1 cpu=1000 memory=2000000000 pods=1");
}

TEST(DemandCustom, a_submitter_pod_need_not_be_declared) {
  const std::string job = R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j"},
    "spec":{"rayClusterSpec":{"headGroupSpec":{"template":)" +
                          pod_template(R"({"cpu":"1"})") + "}}}}";
  const std::string head = "'/spec/rayClusterSpec/headGroupSpec/template' x1 cpu=2000 pods=1\n";
  EXPECT_EQ(text(demand_of(wrapper(item(R"({"replicas":1,"requests":{"cpu":"2"}})", job)))),
            head + "'/spec/submitterPodTemplate' x1 of 1 cpu=500 memory=209715200 pods=1");
  EXPECT_EQ(text(demand_of(wrapper(item(R"({"replicas":1,"requests":{"cpu":"2"}},
                                           {"replicas":1,"requests":{"cpu":"600m"}})",
                                        job)))),
            head + "'/spec/submitterPodTemplate' x1 of 1 cpu=600 memory=209715200 pods=1");
}

TEST(DemandCustom, unknown_kinds_are_placed_by_what_is_declared_and_the_wrappers_selector) {
  const Result<Demand> demand = demand_of(
      wrapper(item(R"({"replicas":2,"requests":{"cpu":"1"},"limits":{"cpu":"2"}})",
                   R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},
               "spec":{"pods":)" +
                       pod_template(R"({"cpu":"9"})", R"("nodeSelector":{"a":"b"},)") + "}}"),
              R"("schedulingSpec":{"nodeSelector":{"pool":"ml"}},)"));
  ASSERT_TRUE(demand.has_value()) << demand.error().message;
  EXPECT_EQ(text(demand), "- x2 cpu=1000 pods=1");
  EXPECT_EQ(demand->pod_sets[0].pods.selector, (sched::Labels{{"pool", "ml"}}));
  EXPECT_EQ(text(*demand->pod_sets[0].pods.charge), "cpu=1000 limits.cpu=2000 pods=1");
}

TEST(DemandCustom, completions_still_count_when_the_declared_number_agrees) {
  const std::string job = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},
    "spec":{"parallelism":2,"completions":6,"template":)" +
                          pod_template(R"({"cpu":"1"})") + "}}";
  EXPECT_EQ(text(demand_of(wrapper(item(R"({"replicas":2,"requests":{"cpu":"1"}})", job)))),
            "'/spec/template' x2 of 6 cpu=1000 pods=1");
  EXPECT_EQ(text(demand_of(wrapper(item(R"({"replicas":3,"requests":{"cpu":"1"}})", job)))),
            "'/spec/template' x3 cpu=1000 pods=1");
}

}  // namespace
}  // namespace codeflare::queue
