#include "sdk/pod_override.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

std::string merged(std::string_view target, std::string_view patch) {
  json::Document document = json::parse(target).value();
  merge_pod_spec(document.arena, document.root, json::parse(patch).value().root);
  return json::to_text(document.root);
}

TEST(PodOverride, merges_containers_by_name_and_their_env) {
  EXPECT_EQ(merged(R"({"containers":[{"name":"ray","env":[{"name":"A","value":"1"}]}]})",
                   R"({"containers":[{"name":"ray","env":[{"name":"A","value":"2"},)"
                   R"({"name":"B","value":"3"}]},{"name":"more"}]})"),
            R"({"containers":[{"name":"ray","env":[{"name":"A","value":"2"},)"
            R"({"name":"B","value":"3"}]},{"name":"more"}]})");
}

TEST(PodOverride, replaces_other_lists_and_removes_by_null) {
  EXPECT_EQ(merged(R"({"tolerations":[{"key":"a"}],"nodeSelector":{"x":"1","y":"2"}})",
                   R"({"tolerations":[{"key":"b"}],"nodeSelector":{"x":null,"z":"3"}})"),
            R"({"tolerations":[{"key":"b"}],"nodeSelector":{"y":"2","z":"3"}})");
}

TEST(PodOverride, adds_what_has_no_key_and_takes_any_kind) {
  EXPECT_EQ(merged(R"({"volumes":[{"name":"a"}],"hostNetwork":false})",
                   R"({"volumes":[{"emptyDir":{}}],"hostNetwork":{"odd":1}})"),
            R"({"volumes":[{"name":"a"},{"emptyDir":{}}],"hostNetwork":{"odd":1}})");
}

}  // namespace
}  // namespace codeflare::sdk
