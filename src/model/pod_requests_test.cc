#include "model/pod_requests.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::model {
namespace {

Quantity q(std::string_view text) {
  return Quantity::parse(text).value();
}

Container asks(std::string_view cpu, std::string_view memory = "0") {
  Container container;
  container.resources.requests = {{"cpu", q(cpu)}, {"memory", q(memory)}};
  return container;
}

Container sidecar(std::string_view cpu) {
  Container container = asks(cpu);
  container.restart_policy = "Always";
  return container;
}

std::string cpu(const PodSpec& spec) {
  return pod_requests(spec).get("cpu").to_string();
}

TEST(PodRequests, containers_add_up) {
  PodSpec spec;
  EXPECT_TRUE(pod_requests(spec).empty());
  spec.containers = {asks("500m", "1Gi"), asks("1", "512Mi")};
  EXPECT_EQ(pod_requests(spec), (ResourceList{{"cpu", q("1500m")}, {"memory", q("1536Mi")}}));
}

TEST(PodRequests, init_containers_run_one_by_one_before_the_others) {
  PodSpec spec;
  spec.containers = {asks("1", "1Gi"), asks("1")};
  spec.init_containers = {asks("3"), asks("1", "4Gi")};
  EXPECT_EQ(pod_requests(spec), (ResourceList{{"cpu", q("3")}, {"memory", q("4Gi")}}));
}

TEST(PodRequests, a_sidecar_runs_beside_the_containers_and_later_init_containers) {
  PodSpec spec;
  spec.containers = {asks("1")};
  spec.init_containers = {asks("2"), sidecar("1"), asks("1500m")};
  EXPECT_EQ(cpu(spec), "2500m");  // the last init container beside the sidecar
  spec.init_containers = {asks("2"), sidecar("1"), sidecar("1")};
  EXPECT_EQ(cpu(spec), "3");  // both sidecars beside the container
  spec.init_containers = {asks("4"), sidecar("1")};
  EXPECT_EQ(cpu(spec), "4");  // before any sidecar
}

TEST(PodRequests, requests_of_the_pod_replace_the_sum_where_they_may) {
  PodSpec spec;
  spec.containers = {asks("1", "1Gi")};
  spec.containers[0].resources.requests.set("nvidia.com/gpu", q("1"));
  spec.resources.emplace().requests = {
      {"cpu", q("4")}, {"hugepages-2Mi", q("4Mi")}, {"nvidia.com/gpu", q("8")}};
  EXPECT_EQ(pod_requests(spec), (ResourceList{{"cpu", q("4")},
                                              {"hugepages-2Mi", q("4Mi")},
                                              {"memory", q("1Gi")},
                                              {"nvidia.com/gpu", q("1")}}));
}

TEST(PodRequests, overhead_comes_on_top) {
  PodSpec spec;
  spec.containers = {asks("1")};
  spec.init_containers = {asks("2")};
  spec.overhead = {{"cpu", q("250m")}, {"memory", q("64Mi")}};
  EXPECT_EQ(pod_requests(spec), (ResourceList{{"cpu", q("2250m")}, {"memory", q("64Mi")}}));
}

TEST(PodRequests, a_limit_stands_for_a_missing_request) {
  PodSpec spec;
  Container& container = spec.containers.emplace_back();
  container.resources.limits = {{"cpu", q("2")}, {"nvidia.com/gpu", q("1")}};
  container.resources.requests = {{"cpu", q("0")}};
  EXPECT_EQ(pod_requests(spec), (ResourceList{{"cpu", q("0")}, {"nvidia.com/gpu", q("1")}}));
}

TEST(PodRequests, a_limit_of_the_pod_stands_for_a_request_that_no_container_made) {
  PodSpec spec;
  Container& container = spec.containers.emplace_back();
  container.resources.requests = {{"cpu", q("1")}};
  spec.resources.emplace().limits = {{"cpu", q("4")}, {"memory", q("8Gi")}, {"gpu", q("1")}};
  EXPECT_EQ(pod_requests(spec), (ResourceList{{"cpu", q("1")}, {"memory", q("8Gi")}}));
}

TEST(PodLimits, overhead_adds_to_what_is_limited) {
  PodSpec spec;
  Container& container = spec.containers.emplace_back();
  container.resources.limits = {{"cpu", q("2")}};
  spec.overhead = {{"cpu", q("250m")}, {"memory", q("64Mi")}};
  EXPECT_EQ(pod_limits(spec), (ResourceList{{"cpu", q("2250m")}}));
}

}  // namespace
}  // namespace codeflare::model
