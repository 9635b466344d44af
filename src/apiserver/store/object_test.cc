#include "apiserver/store/object.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

ObjectPtr make(std::string_view text, Revision revision = 42) {
  Result<ObjectPtr> object =
      make_object({.collection = 3, .text = text, .revision = revision, .created = 7});
  EXPECT_TRUE(object.has_value()) << object.error().to_string();
  return object.value_or(nullptr);
}

std::string error_of(std::string_view text) {
  Result<ObjectPtr> object = make_object({.text = text});
  return object ? "" : object.error().to_string();
}

TEST(Object, puts_its_revision_in_place_of_what_stood_there) {
  EXPECT_EQ(make(R"({"metadata":{"name":"a","resourceVersion":"7","uid":"u"},"x":1})")->json(),
            R"({"metadata":{"name":"a","resourceVersion":"42","uid":"u"},"x":1})");
  EXPECT_EQ(make(R"({"metadata":{"name":"a","resourceVersion":"123456"}})")->json(),
            R"({"metadata":{"name":"a","resourceVersion":"42"}})");
  EXPECT_EQ(make(R"({"metadata":{"name":"a","resourceVersion":null}})")->json(),
            R"({"metadata":{"name":"a","resourceVersion":"42"}})");
  EXPECT_EQ(make(R"({"metadata":{"resourceVersion":"","name":"a"}})")->json(),
            R"({"metadata":{"resourceVersion":"42","name":"a"}})");
}

TEST(Object, adds_its_revision_when_there_is_none) {
  EXPECT_EQ(make(R"({"kind":"X","metadata":{ "name":"a"},"x":1})")->json(),
            R"({"kind":"X","metadata":{"resourceVersion":"42", "name":"a"},"x":1})");
}

TEST(Object, leaves_a_resource_version_elsewhere_alone) {
  EXPECT_EQ(make(R"({"spec":{"resourceVersion":"1"},"metadata":{"name":"a"}})")->json(),
            R"({"spec":{"resourceVersion":"1"},"metadata":{"resourceVersion":"42","name":"a"}})");
}

TEST(Object, knows_the_version_of_its_text) {
  const std::string rest = R"("metadata":{"name":"a","resourceVersion":"1000000"})";
  EXPECT_EQ(make(R"({"apiVersion":"batch/v1",)" + rest + "}")->api_version(), "batch/v1");
  EXPECT_EQ(make("{" + rest + R"(,"apiVersion":"batch/v1"})")->api_version(), "batch/v1");
  EXPECT_EQ(make("{" + rest + R"(,"apiVersion":"batch\u002fv1"})")->api_version(), "batch/v1");
  EXPECT_EQ(make("{" + rest + "}")->api_version(), "");
  EXPECT_EQ(make("{" + rest + R"(,"apiVersion":1})")->api_version(), "");
  const std::string endless(70'000, 'v');
  EXPECT_EQ(make("{" + rest + R"(,"apiVersion":")" + endless + "\"}")->api_version(), "");
}

TEST(Object, shows_its_head_wherever_the_revision_was_put) {
  for (const char* text :
       {R"({"metadata":{"name":"a","namespace":"n","uid":"u","labels":{"l":"1"},"generation":3,
            "ownerReferences":[{"uid":"o"}],"deletionTimestamp":"t","resourceVersion":"1"}})",
        R"({"metadata":{"resourceVersion":"1000000","name":"a","namespace":"n","uid":"u",
            "labels":{"l":"1"},"generation":3,"ownerReferences":[{"uid":"o"}],
            "deletionTimestamp":"t"}})",
        R"({"metadata":{"name":"a","namespace":"n","uid":"u","labels":{"l":"1"},"generation":3,
            "ownerReferences":[{"uid":"o"}],"deletionTimestamp":"t"}})"}) {
    ObjectPtr object = make(text);
    EXPECT_EQ(object->name(), "a");
    EXPECT_EQ(object->ns(), "n");
    EXPECT_EQ(object->uid(), "u");
    EXPECT_EQ(object->labels(), R"({"l":"1"})");
    EXPECT_EQ(object->owner_references(), R"([{"uid":"o"}])");
    EXPECT_EQ(object->generation(), 3);
    EXPECT_TRUE(object->is_being_deleted());
    EXPECT_EQ(object->collection(), 3u);
    EXPECT_EQ(object->revision(), 42u);
    EXPECT_EQ(object->created(), 7u);
  }
}

TEST(Object, has_an_empty_head_where_the_text_says_nothing) {
  ObjectPtr object = make(R"({"metadata":{"name":"a","labels":null,"ownerReferences":null}})");
  EXPECT_EQ(object->ns(), "");
  EXPECT_EQ(object->uid(), "");
  EXPECT_EQ(object->labels(), "");
  EXPECT_EQ(object->owner_references(), "");
  EXPECT_EQ(object->generation(), 0);
  EXPECT_FALSE(object->is_being_deleted());
}

TEST(Object, decodes_names_with_escapes) {
  ObjectPtr object = make(R"({"metadata":{"name":"a\u002db","namespace":"\u006e","uid":"u\"v"}})");
  EXPECT_EQ(object->name(), "a-b");
  EXPECT_EQ(object->ns(), "n");
  EXPECT_EQ(object->uid(), "u\"v");
  EXPECT_TRUE(object->json().ends_with(R"("uid":"u\"v"}})"));
}

TEST(Object, text_outlives_the_last_reference_to_the_object) {
  ObjectPtr object = make(R"({"metadata":{"name":"a"}})");
  Bytes text = object->text();
  object.reset();
  EXPECT_EQ(text.view(), R"({"metadata":{"resourceVersion":"42","name":"a"}})");
}

TEST(Object, refuses_text_without_metadata_or_name) {
  EXPECT_EQ(error_of(R"({"a":1})"), "invalid_argument: the object has no metadata");
  EXPECT_EQ(error_of(R"({"metadata":[]})"), "invalid_argument: the object has no metadata");
  EXPECT_EQ(error_of(R"({"metadata":{}})"), "invalid_argument: the object has no metadata.name");
  EXPECT_NE(error_of(R"({"metadata":{"name":1}})"), "");
  EXPECT_NE(error_of(R"({"metadata":{"name":"a","generation":"x"}})"), "");
  EXPECT_NE(error_of(R"({"metadata":{"name":"a")"), "");
  EXPECT_NE(error_of(""), "");
}

TEST(Object, head_is_small) {
  // Ten thousand objects should cost little more than their text.
  EXPECT_LE(sizeof(Object), 112u);
}

}  // namespace
}  // namespace codeflare::apiserver
