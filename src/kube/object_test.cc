#include "kube/object.h"

#include "json/parse.h"
#include "model/codec/core.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

namespace codeflare::kube {
namespace {

TEST(Object, shows_the_fields_that_caches_look_at) {
  const std::string text =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"prod",)"
      R"("uid":"u-1","resourceVersion":"42","generation":3,"labels":{"app":"web"},)"
      R"("ownerReferences":[{"kind":"Job","uid":"j"}]},"spec":{"metadata":{"name":"not me"}}})";
  const ObjectRef pod = *Object::from_json(text);
  EXPECT_EQ(pod->text(), text);
  EXPECT_EQ(pod->kind(), "Pod");
  EXPECT_EQ(pod->api_version(), "v1");
  EXPECT_EQ(pod->key(), (model::ObjectKey{"prod", "web-0"}));
  EXPECT_EQ(pod->uid(), "u-1");
  EXPECT_EQ(pod->resource_version(), "42");
  EXPECT_EQ(pod->revision(), 42u);
  EXPECT_EQ(pod->generation(), 3);
  EXPECT_FALSE(pod->deleting());
  EXPECT_EQ(pod->labels_json(), R"({"app":"web"})");
  EXPECT_EQ(pod->owner_references_json(), R"([{"kind":"Job","uid":"j"}])");
  EXPECT_GE(pod->memory_bytes(), text.size());
  EXPECT_LT(pod->memory_bytes(), text.size() + 200);
}

TEST(Object, absent_fields_are_empty) {
  const ObjectRef object = *Object::from_json(R"({"metadata":{"name":"a","labels":null}})");
  EXPECT_EQ(object->kind(), "");
  EXPECT_EQ(object->ns(), "");
  EXPECT_EQ(object->revision(), 0u);
  EXPECT_EQ(object->generation(), 0);
  EXPECT_EQ(object->labels_json(), "");
  EXPECT_EQ(object->owner_references_json(), "");
}

TEST(Object, strings_with_escapes_are_shown_decoded) {
  const std::string text =
      R"({"kind":"\u0050od","metadata":{"n\u0061me":"we\u0062-0","namespace":"a\/b","uid":"plain"}})";
  const ObjectRef object = *Object::from_json(text);
  EXPECT_EQ(object->kind(), "Pod");
  EXPECT_EQ(object->name(), "web-0");
  EXPECT_EQ(object->ns(), "a/b");
  EXPECT_EQ(object->uid(), "plain");
  EXPECT_EQ(object->text(), text);
}

TEST(Object, deletion_shows) {
  EXPECT_TRUE((*Object::from_json(
                   R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}})"))
                  ->deleting());
  EXPECT_FALSE(
      (*Object::from_json(R"({"metadata":{"name":"a","deletionTimestamp":null}})"))->deleting());
}

TEST(Object, a_version_that_is_no_number_has_no_revision) {
  for (const char* rv : {"", "abc", "12x", "-1", "99999999999999999999999"}) {
    const std::string text =
        R"({"metadata":{"name":"a","resourceVersion":")" + std::string(rv) + "\"}}";
    EXPECT_EQ((*Object::from_json(text))->revision(), 0u) << rv;
  }
}

TEST(Object, what_is_no_object_with_a_name_is_refused) {
  for (const char* text :
       {"", "null", "[]", "{}", R"({"metadata":{}})", R"({"metadata":{"name":""}})",
        R"({"metadata":{"name":7}})", R"({"metadata":{"name":"a"})", R"({"metadata":{"name":"a)"}) {
    EXPECT_FALSE(Object::from_json(text)) << text;
  }
}

TEST(Object, a_tree_becomes_an_object_and_comes_back) {
  const json::Document tree = *json::parse(R"({ "metadata": {"name": "a"}, "x": [1, 2.50] })");
  const ObjectRef object = *Object::from_value(tree.root);
  EXPECT_EQ(object->text(), R"({"metadata":{"name":"a"},"x":[1,2.50]})");
  EXPECT_TRUE(json::equal(object->parse()->root, tree.root));
}

TEST(Object, packed_it_reads_the_same_and_takes_a_fraction) {
  const auto pod = [](const std::string& name) {
    return *Object::from_json(
        R"({"kind":"Po\u0064","metadata":{"name":")" + name + R"(","namespace":"a\/b","uid":"u-)" +
        name +
        R"(","resourceVersion":"42","generation":3,"labels":{"app":"web"},)"
        R"("deletionTimestamp":"2026-01-01T00:00:00Z","ownerReferences":[{"uid":"j"}]},)"
        R"("spec":{"text":")" +
        std::string(4'000, 'x') + R"("}})");
  };
  const auto sample = std::make_shared<TextSample>();
  Object::packed(pod("first"), sample);
  const ObjectRef plain = pod("second-one");
  const ObjectRef packed = Object::packed(plain, sample);
  EXPECT_LT(packed->memory_bytes(), plain->memory_bytes() / 8);
  EXPECT_EQ(packed->text(), plain->text());
  EXPECT_EQ(packed->kind(), "Pod");
  EXPECT_EQ(packed->api_version(), "");
  EXPECT_EQ(packed->key(), (model::ObjectKey{"a/b", "second-one"}));
  EXPECT_EQ(packed->uid(), "u-second-one");
  EXPECT_EQ(packed->revision(), 42u);
  EXPECT_EQ(packed->generation(), 3);
  EXPECT_TRUE(packed->deleting());
  EXPECT_EQ(packed->labels_json(), R"({"app":"web"})");
  EXPECT_EQ(packed->owner_references_json(), R"([{"uid":"j"}])");
  EXPECT_TRUE(json::equal(packed->parse()->root, plain->parse()->root));
  EXPECT_EQ(packed->string_at({"metadata", "name"}), "second-one");
  EXPECT_EQ(Object::packed(packed, sample), packed) << "there is nothing more to save";
}

TEST(Object, is_left_as_it_is_when_packing_saves_nothing) {
  // Digits that repeat nothing, and too many of them to learn.
  std::string digits;
  for (std::uint64_t x = 1; digits.size() < 50'000; x = x * 6364136223846793005u + 1) {
    digits += std::to_string(x);
  }
  const ObjectRef object = *Object::from_json(R"({"metadata":{"name":"a"},"x":")" + digits + "\"}");
  EXPECT_EQ(Object::packed(object, std::make_shared<TextSample>()), object);
}

TEST(Object, becomes_the_struct_of_its_kind) {
  const ObjectRef object =
      *Object::from_json(R"({"metadata":{"name":"a","labels":{"k":"v"}},"data":{"x":"1"}})");
  const Result<model::ConfigMap> map = object->as<model::ConfigMap>();
  ASSERT_TRUE(map);
  EXPECT_EQ(map->metadata.labels.at("k"), "v");
  EXPECT_EQ(map->data.at("x"), "1");
  const ObjectRef wrong = *Object::from_json(R"({"metadata":{"name":"a"},"data":{"x":1}})");
  EXPECT_EQ(wrong->as<model::ConfigMap>().error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace codeflare::kube
