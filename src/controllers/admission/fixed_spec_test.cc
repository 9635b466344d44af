#include "controllers/admission/fixed_spec.h"

#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::admission {
namespace {

// The reported fields, for a change of one spec.
std::string told(std::string_view before, std::string_view now) {
  const auto wrapper = [](std::string_view spec) {
    return *json::parse(R"({"spec":)" + std::string(spec) + "}");
  };
  const json::Document old = wrapper(before);
  const json::Document object = wrapper(now);
  std::string fields;
  for (const std::string& problem : spec_changes(object.root, old.root)) {
    EXPECT_TRUE(problem.contains(" cannot be changed")) << problem;
    fields += problem.substr(0, problem.find(':')) + " ";
  }
  return fields;
}

TEST(FixedSpec, priority_suspend_and_service_come_change_and_go) {
  EXPECT_EQ(told("{}", R"({"priority":1,"suspend":true,"service":{"a":1}})"), "");
  EXPECT_EQ(told(R"({"priority":1,"suspend":true})", R"({"priority":2,"suspend":false})"), "");
  EXPECT_EQ(told(R"({"priority":1,"suspend":true,"service":{}})", "{}"), "");
}

TEST(FixedSpec, each_other_member_that_came_changed_or_went_is_told) {
  EXPECT_EQ(told(R"({"resources":{"GenericItems":[{"replicas":1}]}})",
                 R"({"resources":{"GenericItems":[{"replicas":2}]}})"),
            "spec.resources ");
  EXPECT_EQ(told(R"({"selector":{},"priority":1,"schedulingSpec":{"minAvailable":1}})",
                 R"({"priorityslope":0.5,"schedulingSpec":{"minAvailable":2},
                     "ttlSecondsAfterFinished":5})"),
            "spec.priorityslope spec.schedulingSpec spec.ttlSecondsAfterFinished spec.selector ");
  EXPECT_EQ(told(R"({"resources":{"GenericItems":[{"generictemplate":{"spec":{"a":[1,2]}}}]}})",
                 R"({"resources":{"GenericItems":[{"generictemplate":{"spec":{"a":[2,1]}}}]}})"),
            "spec.resources ");
  EXPECT_EQ(told(R"({"resources":{"a":1}})", R"({"resources":{"a":"1"}})"), "spec.resources ");
}

TEST(FixedSpec, values_count_not_how_they_are_written) {
  EXPECT_EQ(told(R"({"resources":{"a":1,"b":{"c":"d","e":null}},"priorityslope":1})",
                 R"({"priorityslope":1.0, "resources":{"b":{"e":null,"c":"\u0064"},"a":1e0}})"),
            "");
}

TEST(FixedSpec, an_object_without_a_spec_has_nothing_to_change) {
  const json::Document empty = *json::parse("{}");
  EXPECT_TRUE(spec_changes(empty.root, empty.root).empty());
  const json::Document full = *json::parse(R"({"spec":{"resources":{}}})");
  EXPECT_EQ(spec_changes(full.root, empty.root).size(), 1u);
  EXPECT_EQ(spec_changes(empty.root, full.root).size(), 1u);
}

}  // namespace
}  // namespace codeflare::admission
