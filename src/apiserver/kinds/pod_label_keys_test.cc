#include "apiserver/kinds/pod_label_keys.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

std::string merged(std::string_view spec) {
  json::Document pod =
      *json::parse(R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":)" + std::string(spec) + "}");
  merge_label_keys(pod.arena, pod.root);
  return json::to_text(*pod.root.find("spec"));
}

TEST(PodLabelKeys, narrow_the_selectors_that_name_them) {
  EXPECT_EQ(
      merged(
          R"({"topologySpreadConstraints":[{"labelSelector":{},"matchLabelKeys":["a","none"]}]})"),
      R"({"topologySpreadConstraints":[{"labelSelector":{"matchExpressions":[{"key":"a",)"
      R"("operator":"In","values":["1"]}]},"matchLabelKeys":["a","none"]}]})");
  EXPECT_EQ(
      merged(R"({"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":)"
             R"([{"podAffinityTerm":{"labelSelector":{"matchExpressions":[]},)"
             R"("mismatchLabelKeys":["b"]}}]}}})"),
      R"({"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":)"
      R"([{"podAffinityTerm":{"labelSelector":{"matchExpressions":[{"key":"b",)"
      R"("operator":"NotIn","values":["2"]}]},"mismatchLabelKeys":["b"]}}]}}})");
}

TEST(PodLabelKeys, leave_a_term_without_a_selector_alone) {
  const std::string spec =
      R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"([{"matchLabelKeys":["a"]}]}}})";
  EXPECT_EQ(merged(spec), spec);
}

}  // namespace
}  // namespace codeflare::apiserver
