#include "queue/demand.h"
#include "queue/marks.h"
#include "queue/testing/wrappers.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::queue {
namespace {

using testing::wrapper;

Demand demand(std::string_view entries) {
  Result<Demand> made = demand_of(wrapper(R"({"custompodresources":[)" + std::string(entries) +
                                          R"(],"generictemplate":{"apiVersion":"example.com/v1",
                                             "kind":"Thing","metadata":{"name":"t"}}})"));
  CHECK(made.has_value());
  return *std::move(made);
}

model::Pod pod(model::ResourceList requests, std::string_view label = "") {
  model::Pod made;
  made.spec.containers.emplace_back().resources.requests = std::move(requests);
  if (!label.empty()) {
    made.metadata.labels.emplace(kPodSetLabel, label);
  }
  return made;
}

model::ResourceList cpu(std::int64_t millis) {
  return {{"cpu", model::Quantity::milli(millis)}};
}

const char* const kTwo = R"({"replicas":1,"requests":{"cpu":"1"}},
                            {"replicas":4,"requests":{"cpu":"4","memory":"1Gi"}})";

TEST(PodMatch, the_label_decides) {
  EXPECT_EQ(pod_set_of(demand(kTwo), pod(cpu(1000), "1")), 1u);
  EXPECT_EQ(pod_set_of(demand(kTwo), pod(cpu(99'000), "0")), 0u);
}

TEST(PodMatch, a_label_that_names_no_pod_set_is_not_heeded) {
  for (const std::string_view label : {"2", "-1", "x", "1x", "99999999999999999999"}) {
    EXPECT_EQ(pod_set_of(demand(kTwo), pod(cpu(1000), label)), 0u) << label;
  }
}

TEST(PodMatch, without_a_label_the_closest_set_with_room_takes_it) {
  EXPECT_EQ(pod_set_of(demand(kTwo), pod(cpu(900))), 0u);
  EXPECT_EQ(pod_set_of(demand(kTwo), pod(cpu(1100))), 1u);
  EXPECT_EQ(pod_set_of(demand(kTwo), pod({})), 0u);
}

TEST(PodMatch, what_no_set_has_room_for_belongs_to_none) {
  EXPECT_EQ(pod_set_of(demand(kTwo), pod(cpu(5000))), std::nullopt);
  EXPECT_EQ(pod_set_of(demand(kTwo), pod({{"nvidia.com/gpu", model::Quantity(1)}})), std::nullopt);
  EXPECT_EQ(pod_set_of(Demand(), pod(cpu(1))), std::nullopt);
}

TEST(PodMatch, a_set_of_no_pods_takes_none_without_their_label) {
  EXPECT_EQ(pod_set_of(demand(R"({"replicas":0,"requests":{"cpu":"1"}},
                                 {"replicas":1,"requests":{"cpu":"2"}})"),
                       pod(cpu(1000))),
            1u);
}

}  // namespace
}  // namespace codeflare::queue
