#include "apiserver/patch/field_manager.h"

#include "apiserver/patch/testing/test_schema.h"
#include "apiserver/schema/builtin.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/status.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

// An object and those who write it; each write is a minute after the one before.
class Story {
 public:
  explicit Story(const schema::Node& node, std::string api_version = "apps/v1")
      : node_(node), api_version_(std::move(api_version)) {}

  void update(std::string name, std::string_view object, std::string subresource = {}) {
    json::Value value = read(object);
    track_update(node_, arena_, live(), value, id(std::move(name), std::move(subresource)), tick());
    live_ = value;
    created_ = true;
  }
  Result<void> apply_as(std::string name, std::string_view object, bool force = false) {
    auto result =
        apply(node_, arena_, live(), read(object), id(std::move(name), {}), force, tick());
    if (!result) {
      return fail(std::move(result).error());
    }
    live_ = *result;
    created_ = true;
    return {};
  }

  // "manager/operation fields" per entry.
  std::string owners() const {
    std::string text;
    const json::Value* entries = live_.get({"metadata", "managedFields"});
    for (const json::Value& entry : entries == nullptr ? json::Value().items() : entries->items()) {
      text += std::string(entry.string_or_empty("manager")) + "/" +
              std::string(entry.string_or_empty("operation")) + " " +
              json::to_text(*entry.find("fieldsV1")) + "\n";
    }
    return text;
  }
  std::string object() const {
    json::Arena arena;
    json::Value copy = live_.clone(arena);
    copy.find("metadata")->erase("managedFields");
    return json::to_text(copy);
  }
  const json::Value& root() const { return live_; }
  ManagerId id(std::string name, std::string subresource) const {
    return {std::move(name), api_version_, std::move(subresource), reset};
  }

  std::vector<std::string_view> reset{};

 private:
  const json::Value* live() const { return created_ ? &live_ : nullptr; }
  WallTime tick() { return now_ += std::chrono::minutes(1); }
  json::Value read(std::string_view text) {
    auto document = json::parse(text);
    CHECK(document.has_value());
    return document->root.clone(arena_);
  }

  const schema::Node& node_;
  std::string api_version_;
  json::Arena arena_;
  json::Value live_;
  bool created_ = false;
  WallTime now_ = parse_rfc3339("2026-01-01T00:00:00Z").value();
};

const schema::Node& deployment() {
  return *schema::find_builtin("apps", "v1", "Deployment");
}
const schema::Node& pod() {
  return *schema::find_builtin("", "v1", "Pod");
}

constexpr std::string_view kThree =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":3}})";
constexpr std::string_view kFour =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":4}})";

TEST(TrackUpdate, creation_owns_what_differs_from_nothing) {
  Story story(pod(), "v1");
  story.update(
      "kubectl-create",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"},"uid":"u"},
                   "spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{}}],
                           "volumes":[{"name":"v","emptyDir":{}}]},"status":{}})");
  EXPECT_EQ(
      story.owners(),
      R"(kubectl-create/Update {"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},)"
      R"("f:image":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},)"
      R"("f:resources":{}}},"f:volumes":{".":{},"k:{\"name\":\"v\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}})"
      "\n");
}

TEST(TrackUpdate, a_change_takes_fields_from_others) {
  Story story(deployment());
  story.update("a", kThree);
  std::string before = story.owners();
  story.update("b", kThree);
  EXPECT_EQ(story.owners(), before);  // it changed nothing, so it owns nothing
  story.update("b", kFour);
  EXPECT_EQ(story.owners(), "b/Update {\"f:spec\":{\"f:replicas\":{}}}\n");
}

TEST(TrackUpdate, times_change_with_the_sets_only) {
  Story story(deployment());
  story.update("a", kThree);
  auto time = [&] {
    return std::string(
        story.root().get({"metadata", "managedFields"})->items()[0].string_or_empty("time"));
  };
  EXPECT_EQ(time(), "2026-01-01T00:01:00Z");
  story.update("a", kThree);
  EXPECT_EQ(time(), "2026-01-01T00:01:00Z");
  story.update("a", kFour);
  EXPECT_EQ(time(), "2026-01-01T00:03:00Z");
}

TEST(TrackUpdate, an_empty_entry_resets) {
  Story story(deployment());
  story.update("a", kThree);
  story.update(
      "b",
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","managedFields":[{}]},"spec":{"replicas":3}})");
  EXPECT_EQ(story.owners(), "");
  story.update("b", kFour);  // not tracked until somebody applies
  EXPECT_EQ(story.owners(), "");
  ASSERT_TRUE(story.apply_as("c", kFour).has_value());
  EXPECT_EQ(story.owners(),
            "c/Apply {\"f:spec\":{\"f:replicas\":{}}}\n"
            "before-first-apply/Update {\"f:spec\":{\"f:replicas\":{}}}\n");
}

TEST(TrackUpdate, what_an_endpoint_resets_is_not_owned_through_it) {
  Story story(deployment());
  story.reset = {"status"};
  story.update("a", R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
                        "spec":{"replicas":3},"status":{"replicas":3}})");
  EXPECT_EQ(story.owners(), "a/Update {\"f:spec\":{\"f:replicas\":{}}}\n");
}

TEST(TrackUpdate, the_oldest_of_many_updaters_are_joined) {
  Story story(*schema::find_builtin("", "v1", "ConfigMap"), "v1");
  std::string data;
  for (int i = 0; i < 13; ++i) {
    data += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"v\"";
    story.update(
        "m" + std::to_string(i),
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{)" + data + "}}");
  }
  EXPECT_EQ(story.root().get({"metadata", "managedFields"})->size(), 10U);
  EXPECT_TRUE(story.owners().starts_with(
      "ancient-changes/Update "
      "{\"f:data\":{\".\":{},\"f:k0\":{},\"f:k1\":{},\"f:k2\":{},\"f:k3\":{}}}\n"
      "m4/Update"))
      << story.owners();
}

// Quadratic work would take minutes here.
TEST(TrackUpdate, large_objects_cost_in_proportion) {
  Story story(*schema::find_builtin("", "v1", "ConfigMap"), "v1");
  auto object = [](int from, int to, std::string_view value) {
    std::string data;
    for (int i = from; i != to; i += from < to ? 1 : -1) {
      data +=
          (data.empty() ? "\"k" : ",\"k") + std::to_string(i) + "\":\"" + std::string(value) + "\"";
    }
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{)" + data +
           "}}";
  };
  constexpr int kKeys = 30'000;
  story.update("a", object(0, kKeys, "1"));
  story.update("b", object(kKeys - 1, -1, "1"));  // only the order changed
  EXPECT_TRUE(story.owners().starts_with("a/Update"));
  story.update("b", object(kKeys - 1, -1, "2"));
  EXPECT_EQ(story.owners().find("\na/Update"), std::string::npos);
  ASSERT_TRUE(story.apply_as("c", object(0, kKeys, "3"), true).has_value());
  EXPECT_EQ(story.root().find("data")->size(), static_cast<std::size_t>(kKeys));
}

TEST(TrackUpdate, custom_resources_own_their_structures_too) {
  TestSchema s;
  const auto& node = s.structure({{"apiVersion", &s.text()},
                                  {"kind", &s.text()},
                                  {"metadata", &schema::object_meta()},
                                  {"spec", &s.structure({{"size", &s.integer()}}, "")}},
                                 "");
  Story story(node, "e.com/v1");
  story.update("a",
               R"({"apiVersion":"e.com/v1","kind":"K","metadata":{"name":"n"},"spec":{"size":1}})");
  EXPECT_EQ(story.owners(), "a/Update {\"f:spec\":{\".\":{},\"f:size\":{}}}\n");
}

TEST(Apply, conflicts_name_the_owner_and_the_field) {
  Story story(deployment());
  story.update("kubectl-client-side-apply", kThree);
  auto result = story.apply_as("me", kFour);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_EQ(result.error().message,
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using "
            "apps/v1: .spec.replicas");
  const model::StatusCause* cause = model::find_cause(result.error(), "FieldManagerConflict");
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->field, ".spec.replicas");
  EXPECT_EQ(cause->message, "conflict with \"kubectl-client-side-apply\" using apps/v1");
  ASSERT_TRUE(story.apply_as("me", kFour, true).has_value());
  EXPECT_EQ(story.owners(), "me/Apply {\"f:spec\":{\"f:replicas\":{}}}\n");
}

TEST(Apply, several_conflicts_are_listed_by_manager) {
  Story story(deployment());
  ASSERT_TRUE(story.apply_as("z", kThree).has_value());
  story.update(
      "a",
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"l":"1"}},"spec":{"replicas":3}})");
  auto result = story.apply_as(
      "me",
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"l":"2"}},"spec":{"replicas":4}})");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message,
            "Apply failed with 2 conflicts: conflicts with \"a\" using apps/v1:\n"
            "- .metadata.labels.l\nconflicts with \"z\":\n- .spec.replicas");
}

TEST(Apply, equal_values_are_shared_and_stay_until_the_last_owner_leaves) {
  Story story(deployment());
  ASSERT_TRUE(story.apply_as("a", kThree).has_value());
  ASSERT_TRUE(story.apply_as("b", kThree).has_value());
  constexpr std::string_view kNothing =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}})";
  ASSERT_TRUE(story.apply_as("a", kNothing).has_value());
  EXPECT_EQ(story.object(), kThree);
  EXPECT_EQ(story.owners(), "b/Apply {\"f:spec\":{\"f:replicas\":{}}}\n");
  ASSERT_TRUE(story.apply_as("b", kNothing).has_value());
  EXPECT_EQ(story.object(), kNothing);
  EXPECT_EQ(story.owners(), "");
}

TEST(Apply, items_of_keyed_lists_are_joined_and_pruned) {
  Story story(pod(), "v1");
  auto with = [](std::string_view containers) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[)" +
           std::string(containers) + "]}}";
  };
  ASSERT_TRUE(story.apply_as("a", with(R"({"name":"x","image":"1"},{"name":"y","image":"1"})"))
                  .has_value());
  ASSERT_TRUE(story.apply_as("b", with(R"({"name":"z","image":"1"},{"name":"x","args":["q"]})"))
                  .has_value());
  EXPECT_EQ(
      story.object(),
      with(
          R"({"name":"z","image":"1"},{"name":"x","image":"1","args":["q"]},{"name":"y","image":"1"})"));
  ASSERT_TRUE(story.apply_as("a", with(R"({"name":"y","image":"1"})")).has_value());
  EXPECT_EQ(story.object(),
            with(R"({"name":"z","image":"1"},{"name":"x","args":["q"]},{"name":"y","image":"1"})"));
}

TEST(Apply, refuses_what_it_cannot_read) {
  Story story(deployment());
  auto message = [&](std::string_view object) {
    auto result = story.apply_as("me", object);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(
      message(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n"},"spec":{"nope":1}})"),
      "failed to create typed patch object (n/d; apps/v1, Kind=Deployment): .spec.nope: "
      "field not declared in schema");
  EXPECT_EQ(
      message(
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":["a"],"generateName":{"f":[1,"x"]}},
              "spec":{"replicas":"x","paused":1}})"),
      "failed to create typed patch object (/d; apps/v1, Kind=Deployment): errors:\n"
      "  .metadata.labels: expected map, got &{[a]}\n"
      "  .metadata.generateName: expected string, got "
      "&value.valueUnstructured{Value:map[string]interface {}{\"f\":[]interface {}{1, \"x\"}}}\n"
      "  .spec.replicas: expected numeric (int or float), got string\n"
      "  .spec.paused: expected boolean, got &{1}");
  EXPECT_EQ(message(R"({"apiVersion":"apps/v1","kind":"Pod","metadata":{"name":"d"}})"),
            "invalid object type: apps/v1, Kind=Pod");
  EXPECT_EQ(message(R"({"apiVersion":"apps/v2","kind":"Deployment","metadata":{"name":"d"}})"),
            "invalid object type: apps/v2, Kind=Deployment");
  EXPECT_EQ(
      message(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"managedFields":[]}})"),
      "metadata.managedFields must be nil");
}

TEST(Apply, a_key_that_is_missing_has_its_default) {
  Story story(pod(), "v1");
  ASSERT_TRUE(
      story
          .apply_as(
              "a",
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"image":"i"}]}})")
          .has_value());
  EXPECT_EQ(story.owners(),
            "a/Apply "
            "{\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"\\\"}\":{\".\":{},\"f:image\":{}}"
            "}}}\n");
}

TEST(Apply, kubectl_takes_over_what_its_own_annotation_says) {
  std::string annotated =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","annotations":{)"
      R"("kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",)"
      R"(\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":3}}\n"}},"spec":{"replicas":3}})";
  for (std::string_view name : {"kubectl", "somebody"}) {
    Story story(deployment());
    story.update("kubectl-client-side-apply", annotated);
    bool taken = story.apply_as(std::string(name), kFour).has_value();
    EXPECT_EQ(taken, name == "kubectl");
    if (taken) {
      EXPECT_EQ(
          story.root().get({"metadata", "annotations"})->members()[0].value.as_string(),
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":4}})"
          "\n");
    }
  }
}

TEST(Apply, the_result_shares_nothing_with_what_it_was_made_of) {
  json::Arena arena;
  json::Value result;
  {
    auto live = json::parse(kThree);
    auto applied = json::parse(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"b"}}})");
    ManagerId id{"a temporary name that is too long to be stored in place", "apps/v1"};
    result = apply(deployment(), arena, &live->root, applied->root, id, false, WallTime()).value();
  }
  EXPECT_EQ(result.get({"metadata", "labels"})->string_or_empty("a"), "b");
  EXPECT_NE(json::to_text(result).find("too long to be stored"), std::string::npos);
}

}  // namespace
}  // namespace codeflare::apiserver
