#include "apiserver/crd/json_path.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kObject = R"({"metadata":{"annotations":{"a.b/c":"dotted"}},
  "spec":{"n":3,"list":[{"name":"x"},{"name":"y","v":2}],"map":{"k":"v"}},
  "status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Done","status":"True","ok":true}]}})";

std::string first(std::string_view path) {
  auto document = json::parse(kObject);
  auto parsed = JsonPath::parse(path);
  if (!parsed) {
    return "error";
  }
  const json::Value* value = parsed->first(document->root);
  return value == nullptr ? "nothing" : json::to_text(*value);
}

TEST(JsonPath, leads_to_fields_items_and_filtered_items) {
  EXPECT_EQ(first(".spec.n"), "3");
  EXPECT_EQ(first(".spec.list[1].name"), "\"y\"");
  EXPECT_EQ(first(".spec.list[-1].name"), "\"y\"");
  EXPECT_EQ(first(".spec.list[-1:].name"), "\"y\"");
  EXPECT_EQ(first(".spec.list[*].v"), "2");
  EXPECT_EQ(first(".spec['map'].k"), "\"v\"");
  EXPECT_EQ(first(R"(.metadata.annotations.a\.b/c)"), "\"dotted\"");
  EXPECT_EQ(first(R"(.metadata.annotations['a.b/c'])"), "\"dotted\"");
  EXPECT_EQ(first(R"(.status.conditions[?(@.type=="Done")].status)"), "\"True\"");
  EXPECT_EQ(first(R"(.status.conditions[?(@.type=='Ready')].status)"), "\"False\"");
  EXPECT_EQ(first(R"(.status.conditions[?(@.ok == true)].type)"), "\"Done\"");
  EXPECT_EQ(first(".spec.list[?(@.v>1)].name"), "\"y\"");
  EXPECT_EQ(first(".spec.list[?(@.v)].name"), "\"y\"");
}

TEST(JsonPath, leads_nowhere_quietly) {
  EXPECT_EQ(first(".spec.none.deeper"), "nothing");
  EXPECT_EQ(first(".spec.list[7]"), "nothing");
  EXPECT_EQ(first(".spec.n.x"), "nothing");
  EXPECT_EQ(first(R"(.status.conditions[?(@.type=="No")].status)"), "nothing");
}

TEST(JsonPath, refuses_what_it_does_not_understand) {
  for (std::string_view path : {".a[", ".a[x]", ".a[?(@.b=)]", ".a[?(b)]", ".a['x]", "a"}) {
    EXPECT_EQ(first(path), "error") << path;
  }
}

}  // namespace
}  // namespace codeflare::apiserver
