#include "controllers/scale/shape.h"

#include "controllers/scale/placeholder_machines.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::controllers::scale {
namespace {

model::Quantity amount(const char* text) {
  return *model::Quantity::parse(text);
}

MachineOrder order() {
  MachineOrder order{.name = "scale-1-0-0", .request = "scale-1-0", .type = "m5.xlarge"};
  order.spec.labels = {{"pool", "gpu"}};
  order.spec.taints.push_back({.key = "dedicated", .value = "ml", .effect = "NoSchedule"});
  model::MachinePods pods{.type = "m5.xlarge", .count = 2};
  pods.requests.set("cpu", amount("6"));
  pods.requests.set("nvidia.com/gpu", amount("1"));
  order.pods.push_back(pods);
  return order;
}

TEST(Shape, a_placeholder_asks_for_what_a_pod_of_the_work_asks_for_on_machines_of_the_type) {
  const MachineOrder asked = order();
  const Result<json::Document> parsed =
      json::parse(placeholder_json(asked, asked.pods[0], {"codeflare-system", "p"}, "pause"));
  ASSERT_TRUE(parsed);
  const std::string text =
      placeholder_json(asked, asked.pods[0], {"codeflare-system", "p"}, "pause");
  EXPECT_NE(text.find(R"("requests":{"cpu":"6","nvidia.com/gpu":"1"})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("limits":{"nvidia.com/gpu":"1"})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("nodeSelector":{"pool":"gpu"})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("key":"dedicated","operator":"Exists")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("priorityClassName":"codeflare-placeholder")"), std::string::npos) << text;
}

TEST(Shape, there_is_a_placeholder_for_each_pod_and_its_name_stays_the_same) {
  const std::vector<std::string> names = placeholder_names(order());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names, placeholder_names(order()));
  EXPECT_TRUE(names[0].starts_with("scale-1-0-m5xlarge")) << names[0];
}

TEST(Shape, two_types_have_two_suffixes) {
  EXPECT_NE(type_suffix("m5.xlarge"), type_suffix("m5xlarge"));
  EXPECT_EQ(type_suffix("big"), "big");
}

}  // namespace
}  // namespace codeflare::controllers::scale
