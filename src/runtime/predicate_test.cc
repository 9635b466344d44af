#include "runtime/predicate.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::runtime {
namespace {

ObjectRef object(const std::string& metadata, const std::string& rest = "") {
  return *kube::Object::from_json(R"({"metadata":{"name":"a","uid":"u","generation":1)" + metadata +
                                  "}" + rest + "}");
}

ObjectChange update(ObjectRef old, ObjectRef now) {
  return {.old = std::move(old), .now = std::move(now)};
}

const ObjectRef kPlain = object("");

TEST(Predicate, objects_that_come_and_go_always_count) {
  for (const Predicate& predicate : {generation_changed(), labels_changed()}) {
    EXPECT_TRUE(predicate({.old = nullptr, .now = kPlain}));
    EXPECT_TRUE(predicate({.old = kPlain, .now = nullptr}));
    EXPECT_FALSE(predicate(update(kPlain, kPlain)));
  }
}

TEST(Predicate, a_status_is_no_new_generation_but_spec_deletion_and_another_object_are) {
  const Predicate changed = generation_changed();
  EXPECT_FALSE(changed(update(kPlain, object("", R"(,"status":{"phase":"Running"})"))));
  EXPECT_FALSE(changed(update(kPlain, object(R"(,"labels":{"a":"b"})"))));
  EXPECT_TRUE(changed(update(kPlain, object(R"(,"generation":2)"))));
  EXPECT_TRUE(changed(update(kPlain, object(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"))));
  EXPECT_TRUE(changed(update(kPlain, object(R"(,"uid":"v")"))))
      << "deleted and made again between two lists";
}

TEST(Predicate, labels_count_whatever_else_stays) {
  const Predicate changed = labels_changed();
  EXPECT_TRUE(changed(update(kPlain, object(R"(,"labels":{"a":"b"})"))));
  EXPECT_TRUE(changed(update(object(R"(,"labels":{"a":"b"})"), object(R"(,"labels":{"a":"c"})"))));
  EXPECT_FALSE(changed(
      update(object(R"(,"labels":{"a":"b"})"), object(R"(,"generation":2,"labels":{"a":"b"})"))));
}

TEST(Predicate, either_of_two_is_enough) {
  const Predicate either = any_of(generation_changed(), labels_changed());
  EXPECT_TRUE(either(update(kPlain, object(R"(,"generation":2)"))));
  EXPECT_TRUE(either(update(kPlain, object(R"(,"labels":{"a":"b"})"))));
  EXPECT_FALSE(either(update(kPlain, object("", R"(,"status":{"phase":"Running"})"))));
}

}  // namespace
}  // namespace codeflare::runtime
