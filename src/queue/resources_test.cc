#include "queue/demand.h"
#include "queue/testing/wrappers.h"

#include <gtest/gtest.h>

#include <limits>

namespace codeflare::queue {
namespace {

using model::Quantity;
using testing::text;

TEST(Resources, units_are_millicores_bytes_and_pieces_rounded_up) {
  const Result<sched::Resources> resources = to_resources({{"cpu", Quantity::nano(1)},
                                                           {"limits.cpu", Quantity(2)},
                                                           {"requests.cpu", Quantity::milli(1500)},
                                                           {"memory", Quantity::milli(1500)},
                                                           {"nvidia.com/gpu", Quantity(0)}});
  ASSERT_TRUE(resources.has_value());
  EXPECT_EQ(text(*resources), "cpu=1 limits.cpu=2000 memory=2 nvidia.com/gpu=0 requests.cpu=1500");
}

TEST(Resources, the_largest_number_passes_and_one_more_does_not) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(to_resources({{"memory", Quantity(kMax)}}).has_value());
  EXPECT_FALSE(to_resources({{"memory", Quantity(kMax) + Quantity(1)}}).has_value());
  EXPECT_TRUE(to_resources({{"cpu", Quantity::milli(kMax)}}).has_value());
  EXPECT_FALSE(to_resources({{"cpu", Quantity(kMax)}}).has_value());
  EXPECT_FALSE(to_resources({{"pods", Quantity(-1)}}).has_value());
}

TEST(Resources, lists_come_back_as_people_write_them) {
  const model::ResourceList list = to_resource_list(
      {{"cpu", 1500}, {"memory", 3 << 20}, {"nvidia.com/gpu", 8}, {"limits.memory", 1 << 10}});
  EXPECT_EQ(list.get("cpu").to_string(), "1500m");
  EXPECT_EQ(list.get("memory").to_string(), "3Mi");
  EXPECT_EQ(list.get("limits.memory").to_string(), "1Ki");
  EXPECT_EQ(list.get("nvidia.com/gpu").to_string(), "8");
}

TEST(Resources, a_pod_of_nobody_takes_its_requests_and_one_of_the_nodes_pods) {
  model::PodSpec spec;
  spec.containers.emplace_back().resources.requests = {{"cpu", Quantity(1)}, {"pods", Quantity(5)}};
  spec.node_selector = {{"zone", "a"}};
  spec.tolerations.emplace_back().op = "Exists";
  const Result<sched::PodSet> pods = pod_set_for(spec);
  ASSERT_TRUE(pods.has_value()) << pods.error().message;
  EXPECT_EQ(pods->count, 1);
  EXPECT_EQ(text(pods->requests), "cpu=1000 pods=1");
  EXPECT_EQ(pods->selector, (sched::Labels{{"zone", "a"}}));
  EXPECT_EQ(pods->tolerations.size(), 1u);
  spec.tolerations[0].op = "Perhaps";
  EXPECT_FALSE(pod_set_for(spec).has_value());
}

}  // namespace
}  // namespace codeflare::queue
