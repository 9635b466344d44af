#include "runtime/transform.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::runtime {
namespace {

std::string without(const std::string& text) {
  return without_managed_fields(*kube::Object::from_json(text))->text();
}

TEST(Transform, managed_fields_go_wherever_they_stand) {
  const std::string fields = R"("managedFields":[{"manager":"a,b","fieldsV1":{"f:x":{"]":{}}}}])";
  EXPECT_EQ(without(R"({"metadata":{"labels":{"a":"b"},)" + fields + R"(,"name":"n"},"spec":{}})"),
            R"({"metadata":{"labels":{"a":"b"},"name":"n"},"spec":{}})");
  EXPECT_EQ(without(R"({"metadata":{)" + fields + R"(,"name":"n"}})"),
            R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(without(R"({"metadata":{"name":"n",)" + fields + R"(}})"),
            R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(without(R"({"metadata":{"name":"n", )" + fields + R"(, "uid":"u"}})"),
            R"({"metadata":{"name":"n",  "uid":"u"}})");
}

TEST(Transform, the_rest_reads_as_before) {
  const kube::ObjectRef object = without_managed_fields(*kube::Object::from_json(
      R"({"kind":"Pod","metadata":{"managedFields":[{}],"name":"n","namespace":"a","uid":"u",)"
      R"("resourceVersion":"7","labels":{"k":"v"},"ownerReferences":[{"uid":"j"}]}})"));
  EXPECT_EQ(object->key(), (model::ObjectKey{"a", "n"}));
  EXPECT_EQ(object->uid(), "u");
  EXPECT_EQ(object->revision(), 7u);
  EXPECT_EQ(object->labels_json(), R"({"k":"v"})");
  EXPECT_EQ(object->owner_references_json(), R"([{"uid":"j"}])");
}

TEST(Transform, what_only_looks_like_managed_fields_stays) {
  for (
      const char* text : {
          R"({"metadata":{"name":"n"},"spec":{"metadata":{"managedFields":[{}]}}})",
          R"({"metadata":{"name":"n","annotations":{"a":"\"managedFields\":[]","managedFields":"x"}}})",
          R"({"metadata":{"name":"n"}})",
      }) {
    EXPECT_EQ(without(text), text);
  }
}

TEST(Transform, a_form_that_no_server_writes_stays_whole) {
  for (const char* text : {
           R"({"metadata":{"name":"n","managedFields": [{}]}})",
           R"({"metadata":{"name":"n", "managedFields":[{}]}})",
           R"({"metadata":{"name":"n", "managedFields":[{}] ,"uid":"u"}})",
           R"({"metadata":{"name":"n","managed\u0046ields":[{}]}})",
       }) {
    EXPECT_EQ(without(text), text);
  }
}

}  // namespace
}  // namespace codeflare::runtime
