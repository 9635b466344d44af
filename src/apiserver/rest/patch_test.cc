#include "apiserver/rest/testing/api_world.h"
#include "base/async/task_group.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";

void make(ApiWorld& world) {
  Answer made =
      world.post(kMaps, R"({"metadata":{"name":"a","labels":{"x":"1"}},"data":{"k":"v","l":"w"}})");
  ASSERT_EQ(made.status, 201) << made.body;
}

TEST(Patch, merge_changes_adds_and_removes) {
  ApiWorld world;
  make(world);
  Answer patched = world.patch(kMaps + "/a", "merge", R"({"data":{"k":"2","l":null,"m":"3"}})");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.at("data"), R"({"k":"2","m":"3"})");
}

TEST(Patch, json_operations_in_order) {
  ApiWorld world;
  make(world);
  Answer patched = world.patch(
      kMaps + "/a", "json",
      R"([{"op":"test","path":"/data/k","value":"v"},{"op":"replace","path":"/data/k","value":"2"}])");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.at("data.k"), "2");
}

TEST(Patch, a_json_test_that_fails_is_422_and_changes_nothing) {
  ApiWorld world;
  make(world);
  Answer patched = world.patch(
      kMaps + "/a", "json",
      R"([{"op":"replace","path":"/data/k","value":"2"},{"op":"test","path":"/data/k","value":"x"}])");
  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.at("reason"), "Invalid");
  EXPECT_EQ(patched.at("message"),
            "the server rejected our request due to an error in our request");
  EXPECT_EQ(world.get(kMaps + "/a").at("data.k"), "v");
}

TEST(Patch, malformed_patches_are_400) {
  ApiWorld world;
  make(world);
  EXPECT_EQ(world.patch(kMaps + "/a", "json", "{}").status, 400);
  EXPECT_EQ(world.patch(kMaps + "/a", "json", "[{}]").status, 400);
  EXPECT_EQ(world.patch(kMaps + "/a", "merge", "[]").status, 400);
  EXPECT_EQ(world.patch(kMaps + "/a", "merge", "{").status, 400);
}

TEST(Patch, null_changes_nothing_and_is_no_merge_patch) {
  ApiWorld world;
  make(world);
  const std::string before = world.get(kMaps + "/a").at("metadata.resourceVersion");
  EXPECT_EQ(world.patch(kMaps + "/a", "strategic-merge", "null").status, 200);
  EXPECT_EQ(world.patch(kMaps + "/a", "json", "null").status, 200);
  EXPECT_EQ(world.patch(kMaps + "/a", "merge", "null").status, 400);
  EXPECT_EQ(world.get(kMaps + "/a").at("metadata.resourceVersion"), before);
}

TEST(Patch, what_would_break_the_object_is_422_and_shows_it) {
  ApiWorld world;
  make(world);
  Answer broken = world.patch(kMaps + "/a", "merge", R"({"data":[1]})");
  EXPECT_EQ(broken.status, 422);
  EXPECT_EQ(broken.at("details.causes.0.field"), "patch");
  EXPECT_NE(broken.at("message").find(R"(\"data\":[1])"), std::string::npos) << broken.body;
  EXPECT_NE(broken.at("message").find("json: cannot unmarshal array into"), std::string::npos);
  Answer unknown = world.patch(kMaps + "/a?fieldValidation=Strict", "merge", R"({"spec":{}})");
  EXPECT_EQ(unknown.status, 422);
  EXPECT_NE(unknown.at("message").find(R"(strict decoding error: unknown field "spec")"),
            std::string::npos);
}

TEST(Patch, too_many_operations_are_413) {
  ApiWorld world;
  make(world);
  std::string patch = "[";
  for (int i = 0; i <= 10'000; ++i) {
    patch += i == 0 ? "" : ",";
    patch += R"({"op":"test","path":"/data/k","value":"v"})";
  }
  EXPECT_EQ(world.patch(kMaps + "/a", "json", patch + "]").status, 413);
}

TEST(Patch, strategic_merges_lists_by_key) {
  ApiWorld world;
  Answer made = world.post(kDeployments, R"({"metadata":{"name":"d"},"spec":{
    "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"x","image":"i"},{"name":"y","image":"j"}]}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  Answer patched =
      world.patch(kDeployments + "/d", "strategic-merge",
                  R"({"spec":{"template":{"spec":{"containers":[{"name":"y","image":"new"}]}}}})");
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.size("spec.template.spec.containers"), 2u);
  EXPECT_EQ(patched.at("spec.template.spec.containers.1.image"), "new");
  EXPECT_EQ(patched.at("metadata.generation"), "2");
}

TEST(Patch, custom_resources_take_no_strategic_patches) {
  ApiWorld world;
  world.add_custom();
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  world.post(things, R"({"metadata":{"name":"a"}})");
  Answer patched = world.patch(things + "/a", "strategic-merge", "{}");
  EXPECT_EQ(patched.status, 415);
  EXPECT_TRUE(patched.at("message").contains("application/merge-patch+json"));
  EXPECT_EQ(world.patch(things + "/a", "unknown", "{}").status, 415);
}

TEST(Patch, a_version_in_the_patch_must_be_the_current_one) {
  ApiWorld world;
  make(world);
  Answer stale = world.patch(kMaps + "/a", "merge",
                             R"({"metadata":{"resourceVersion":"1"},"data":{"k":"2"}})");
  EXPECT_EQ(stale.status, 409);
  Answer fresh = world.patch(kMaps + "/a", "merge",
                             R"({"metadata":{"resourceVersion":"2"},"data":{"k":"2"}})");
  EXPECT_EQ(fresh.status, 200);
}

TEST(Patch, what_changes_nothing_writes_nothing) {
  ApiWorld world;
  make(world);
  const Revision before = world.store().revision();
  EXPECT_EQ(world.patch(kMaps + "/a", "merge", R"({"data":{"k":"v"}})").status, 200);
  EXPECT_EQ(world.store().revision(), before);
}

TEST(Patch, names_and_uids_cannot_be_patched) {
  ApiWorld world;
  make(world);
  EXPECT_EQ(world.patch(kMaps + "/a", "merge", R"({"metadata":{"name":"b"}})").status, 400);
  EXPECT_EQ(world.patch(kMaps + "/a", "merge", R"({"metadata":{"uid":"b"}})").status, 409);
  Answer kept = world.patch(kMaps + "/a", "merge",
                            R"({"metadata":{"creationTimestamp":"2001-01-01T00:00:00Z"}})");
  EXPECT_TRUE(kept.at("metadata.creationTimestamp").starts_with("2023-"));
}

TEST(Patch, does_not_begin_a_deletion) {
  ApiWorld world;
  make(world);
  Answer refused = world.patch(kMaps + "/a", "merge",
                               R"({"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("message"),
            "ConfigMap \"a\" is invalid: metadata.deletionTimestamp: Invalid value: "
            "\"2030-01-01T00:00:00Z\": field is immutable");
  refused = world.patch(kMaps + "/a", "merge", R"({"metadata":{"deletionGracePeriodSeconds":5}})");
  EXPECT_EQ(refused.status, 422);

  ASSERT_EQ(world.patch(kMaps + "/a", "merge", R"({"metadata":{"finalizers":["a.b/c"]}})").status,
            200);
  const std::string since = world.remove(kMaps + "/a").at("metadata.deletionTimestamp");
  Answer kept = world.patch(kMaps + "/a", "merge",
                            R"({"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"}})");
  EXPECT_EQ(kept.status, 200) << kept.body;
  EXPECT_EQ(kept.at("metadata.deletionTimestamp"), since);
}

TEST(Patch, unknown_fields_follow_the_field_validation) {
  ApiWorld world;
  make(world);
  EXPECT_EQ(world.patch(kMaps + "/a?fieldValidation=Strict", "merge", R"({"spec":{}})").status,
            422);
  Answer warned = world.patch(kMaps + "/a", "merge", R"({"spec":{}})");
  EXPECT_EQ(warned.status, 200);
  EXPECT_TRUE(warned.headers.has("Warning"));
}

TEST(Patch, of_what_is_not_there_is_404) {
  ApiWorld world;
  EXPECT_EQ(world.patch(kMaps + "/a", "merge", "{}").status, 404);
}

TEST(Patch, writers_of_one_object_do_not_lose_each_others_changes) {
  ApiWorld world;
  make(world);
  // Sixteen patches at once: all but one lose the first race and are applied again.
  std::vector<Result<net::Response>> answers;
  net::InProcessService client(world.service(), {.address = "test"});
  auto one = [](net::InProcessService& service, int i) -> Task<Result<net::Response>> {
    net::Request request{.method = "PATCH",
                         .target = "/api/v1/namespaces/default/configmaps/a",
                         .headers = {{"Content-Type", "application/merge-patch+json"}},
                         .body = net::body_of("{\"data\":{\"k" + std::to_string(i) + "\":\"v\"}}")};
    co_return co_await service.send(std::move(request));
  };
  auto all = [&](TaskGroup& group) -> Task<int> {
    for (int i = 0; i < 16; ++i) {
      auto keep = [](auto task, std::vector<Result<net::Response>>& out) -> Task<void> {
        out.push_back(co_await std::move(task));
      };
      group.spawn(keep(one(client, i), answers));
    }
    co_await group.join();
    co_return 0;
  };
  TaskGroup group(world.env().loop);
  world.run(all(group));
  ASSERT_EQ(answers.size(), 16u);
  for (Result<net::Response>& answer : answers) {
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200);
  }
  EXPECT_EQ(world.get(kMaps + "/a").size("data"), 18u);
}

TEST(Apply, needs_a_field_manager_and_a_type) {
  ApiWorld world;
  Answer nameless = world.patch(kMaps + "/a", "apply", "apiVersion: v1\nkind: ConfigMap\n");
  EXPECT_EQ(nameless.status, 422);
  EXPECT_EQ(nameless.at("details.causes.0.message"), "Required value: is required for apply patch");
  EXPECT_EQ(world.patch(kMaps + "/a?fieldManager=m", "apply", "data: {}\n").status, 400);
  EXPECT_EQ(world.patch(kMaps + "/a?force=true", "merge", "{}").status, 422);
}

const std::string kApplied =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";

TEST(Apply, creates_what_is_not_there_and_owns_it) {
  ApiWorld world;
  Answer made = world.patch(kMaps + "/a?fieldManager=one", "apply", kApplied);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("data.k"), "v");
  EXPECT_EQ(made.at("metadata.managedFields.0.manager"), "one");
  EXPECT_EQ(made.at("metadata.managedFields.0.operation"), "Apply");
  const Revision before = world.store().revision();
  Answer again = world.patch(kMaps + "/a?fieldManager=one", "apply", kApplied);
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(world.store().revision(), before) << "applying the same again writes nothing";
}

TEST(Apply, of_somebody_elses_field_is_a_conflict_unless_forced) {
  ApiWorld world;
  world.patch(kMaps + "/a?fieldManager=one", "apply", kApplied);
  const std::string other =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: w\n";
  Answer conflict = world.patch(kMaps + "/a?fieldManager=two", "apply", other);
  EXPECT_EQ(conflict.status, 409) << conflict.body;
  EXPECT_EQ(conflict.at("details.causes.0.reason"), "FieldManagerConflict");
  EXPECT_EQ(conflict.at("details.causes.0.field"), ".data.k");
  Answer forced = world.patch(kMaps + "/a?fieldManager=two&force=true", "apply", other);
  EXPECT_EQ(forced.status, 200);
  EXPECT_EQ(forced.at("data.k"), "w");
}

TEST(Apply, takes_away_what_its_manager_no_longer_lists) {
  ApiWorld world;
  world.patch(kMaps + "/a?fieldManager=one", "apply", kApplied);
  Answer less = world.patch(kMaps + "/a?fieldManager=one", "apply",
                            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");
  EXPECT_EQ(less.status, 200);
  EXPECT_EQ(less.at("data.k"), "<absent>");
}

TEST(ManagedFields, of_ordinary_writes_name_the_program) {
  ApiWorld world;
  Answer made = world.post(kMaps, R"({"metadata":{"name":"a"},"data":{"k":"v"}})",
                           {{"User-Agent", "kubectl/v1.34.4 (linux)"}});
  EXPECT_EQ(made.at("metadata.managedFields.0.manager"), "kubectl") << made.body;
  EXPECT_EQ(made.at("metadata.managedFields.0.operation"), "Update");
  Answer patched = world.patch(kMaps + "/a?fieldManager=me", "merge", R"({"data":{"l":"w"}})");
  EXPECT_EQ(patched.size("metadata.managedFields"), 2u);
}

TEST(Apply, in_another_version_than_the_stored_one) {
  ApiWorld world;
  world.add_custom();
  const std::string body =
      "apiVersion: example.com/v1beta1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  count: 1\n";
  const std::string path = "/apis/example.com/v1beta1/namespaces/default/things/a?fieldManager=m";
  Answer made = world.patch(path, "apply", body);
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("apiVersion"), "example.com/v1beta1");
  EXPECT_EQ(world.patch(path, "apply", body).at("metadata.resourceVersion"),
            made.at("metadata.resourceVersion"));
  Answer stored = world.get("/apis/example.com/v1/namespaces/default/things/a");
  EXPECT_EQ(stored.at("spec.count"), "1");
  EXPECT_EQ(stored.at("metadata.managedFields.0.apiVersion"), "example.com/v1beta1");
}

TEST(ManagedFields, name_the_version_that_the_writer_spoke) {
  ApiWorld world;
  world.add_custom();
  const std::string body =
      R"({"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"a"},"spec":{"n":1}})";
  Answer made = world.post("/apis/example.com/v1beta1/namespaces/default/things", body);
  EXPECT_EQ(made.at("metadata.managedFields.0.apiVersion"), "example.com/v1beta1") << made.body;
  Answer patched = world.patch("/apis/example.com/v1/namespaces/default/things/a", "merge",
                               R"({"spec":{"m":1}})");
  EXPECT_EQ(patched.size("metadata.managedFields"), 2u) << patched.body;
}

}  // namespace
}  // namespace codeflare::apiserver
