#include "apiserver/schema/builtin_form.h"

#include "apiserver/schema/builtin.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::apiserver::schema {
namespace {

std::string formed(const Node& kind, std::string_view text) {
  auto document = json::parse(text);
  if (!document) {
    return document.error().to_string();
  }
  const json::Value value = builtin_form(kind, document->root, document->arena);
  const std::string once = json::to_text(value);
  EXPECT_EQ(json::to_text(builtin_form(kind, value, document->arena)), once);
  return once;
}

const Node& kind(std::string_view group, std::string_view name) {
  return *find_builtin(group, "v1", name);
}

// The kind is a ConfigMap when only metadata matters.
std::string formed_meta(std::string_view meta) {
  const std::string text =
      formed(kind("", "ConfigMap"), R"({"metadata":)" + std::string(meta) + "}");
  constexpr std::string_view kHead = R"({"metadata":)";
  return text.substr(kHead.size(), text.size() - kHead.size() - 1);
}

TEST(BuiltinForm, zero_values_that_upstream_shows_appear) {
  EXPECT_EQ(formed(kind("", "Pod"), R"({"kind":"Pod","apiVersion":"v1"})"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":null},)"
            R"("status":{}})");
  EXPECT_EQ(formed(kind("", "Pod"), R"({"spec":{"containers":[{"name":"c"},null]}})"),
            R"({"metadata":{},"spec":{"containers":[{"name":"c","resources":{}},)"
            R"({"name":"","resources":{}}]},"status":{}})");
}

TEST(BuiltinForm, empty_values_that_upstream_leaves_out_go_away) {
  EXPECT_EQ(formed_meta(R"({"name":"n","namespace":"","labels":{},"finalizers":[],)"
                        R"("generation":0,"creationTimestamp":null,"uid":null})"),
            R"({"name":"n"})");
}

TEST(BuiltinForm, zero_behind_a_pointer_stays_and_null_does_not) {
  const Node& deployment = kind("apps", "Deployment");
  EXPECT_EQ(formed(deployment, R"({"spec":{"replicas":0,"revisionHistoryLimit":null}})"),
            R"({"metadata":{},"spec":{"replicas":0,"selector":null,"strategy":{},)"
            R"("template":{"metadata":{},"spec":{"containers":null}}},"status":{}})");
}

TEST(BuiltinForm, what_the_type_does_not_know_goes_away) {
  EXPECT_EQ(formed_meta(R"({"name":"n","Name":"m","clusterName":"c"})"), R"({"name":"n"})");
}

TEST(BuiltinForm, maps_are_sorted_and_null_entries_are_empty) {
  EXPECT_EQ(formed(kind("", "Secret"), R"({"data":{"b":"YQ\r\n==","a":null}})"),
            R"({"data":{"a":"","b":"YQ=="},"metadata":{}})");
}

TEST(BuiltinForm, quantities_and_times_have_one_spelling) {
  EXPECT_EQ(formed(kind("", "ResourceQuota"),
                   R"({"spec":{"hard":{"pods":10,"memory":"1024Mi","cpu":"0.5","x":"?"}}})"),
            R"({"metadata":{},"spec":{"hard":{"cpu":"500m","memory":"1Gi","pods":"10","x":"?"}},)"
            R"("status":{}})");
  EXPECT_EQ(formed_meta(R"({"creationTimestamp":"2024-01-01T01:00:00.5+02:00"})"),
            R"({"creationTimestamp":"2023-12-31T23:00:00Z"})");
  EXPECT_EQ(formed_meta(R"({"creationTimestamp":"0001-01-01T00:00:00Z"})"), "{}");
  EXPECT_EQ(formed(kind("coordination.k8s.io", "Lease"),
                   R"({"spec":{"renewTime":"2024-01-01T00:00:00.5Z"}})"),
            R"({"metadata":{},"spec":{"renewTime":"2024-01-01T00:00:00.500000Z"}})");
}

TEST(BuiltinForm, empty_lists_are_null_except_where_upstream_stores_json) {
  EXPECT_EQ(formed(kind("rbac.authorization.k8s.io", "Role"), R"({"rules":[]})"),
            R"({"metadata":{},"rules":null})");
  const std::string text = formed(kind("apiextensions.k8s.io", "CustomResourceDefinition"),
                                  R"({"spec":{"versions":[]}})");
  EXPECT_NE(text.find(R"("versions":[])"), text.npos) << text;
}

TEST(BuiltinForm, schemas_inside_schemas_are_formed_as_well) {
  const std::string text = formed(
      kind("apiextensions.k8s.io", "CustomResourceDefinition"),
      R"({"spec":{"versions":[{"schema":{"openAPIV3Schema":{"type":"object","maximum":2.50,)"
      R"("additionalProperties":false,"items":{"type":"","bogus":1},"default":{"b":1,"a":null},)"
      R"("properties":{"x":{"items":[{"title":"t","bogus":1}]}}}}}]}})");
  EXPECT_NE(text.find(R"({"additionalProperties":false,"default":{"b":1,"a":null},"items":{},)"
                      R"("maximum":2.5,"properties":{"x":{"items":[{"title":"t"}]}},)"
                      R"("type":"object"})"),
            text.npos)
      << text;
}

TEST(BuiltinForm, values_of_a_wrong_shape_are_kept) {
  EXPECT_EQ(formed_meta(R"({"labels":[1],"finalizers":"f","name":5})"),
            R"({"finalizers":"f","labels":[1],"name":5})");
}

}  // namespace
}  // namespace codeflare::apiserver::schema
