#include "apiserver/rest/testing/api_world.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

std::string map_text(std::string_view name, std::string_view rest = "") {
  return "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" +
         std::string(name) + "\"" + std::string(rest) + "},\"data\":{\"k\":\"v\"}}";
}

TEST(Create, answers_201_with_what_the_server_set) {
  ApiWorld world;
  Answer made = world.post(kMaps, map_text("a"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("metadata.name"), "a");
  EXPECT_EQ(made.at("metadata.namespace"), "default");
  EXPECT_EQ(made.at("metadata.resourceVersion"), "2");
  EXPECT_EQ(made.at("metadata.uid").size(), 36u);
  EXPECT_TRUE(made.at("metadata.creationTimestamp").starts_with("2023-11-14T22:13:2"));
  EXPECT_EQ(made.at("metadata.generation"), "<absent>");
  EXPECT_EQ(made.headers.get("Content-Type"), "application/json");
}

TEST(Create, writes_kind_version_and_metadata_first) {
  ApiWorld world;
  Answer made = world.post(
      kMaps,
      R"({"data":{"k":"v"},"metadata":{"labels":{"l":"1"},"name":"a"},"kind":"ConfigMap","apiVersion":"v1"})");
  EXPECT_TRUE(made.body.starts_with(
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":)"))
      << made.body;
}

TEST(Create, the_same_name_twice_is_a_conflict_in_upstreams_words) {
  ApiWorld world;
  world.post(kMaps, map_text("a"));
  Answer again = world.post(kMaps, map_text("a"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.at("kind"), "Status");
  EXPECT_EQ(again.at("reason"), "AlreadyExists");
  EXPECT_EQ(again.at("message"), "configmaps \"a\" already exists");
  EXPECT_EQ(again.at("details.name"), "a");
  EXPECT_EQ(again.at("details.kind"), "configmaps");
  EXPECT_EQ(again.at("code"), "409");
}

TEST(Create, a_version_of_0_is_none) {
  ApiWorld world;
  EXPECT_EQ(world.post(kMaps, map_text("a", R"(,"resourceVersion":"0")")).status, 201);
  EXPECT_EQ(world.post(kMaps, map_text("b", R"(,"resourceVersion":"7")")).status, 500);
  EXPECT_EQ(
      world.put(kMaps + "/a", map_text("a", R"(,"resourceVersion":"0","labels":{"x":"y"})")).status,
      200);
  EXPECT_EQ(world.put(kMaps + "/a", map_text("a", R"(,"resourceVersion":"7")")).status, 409);
}

TEST(Create, kind_and_version_may_be_left_out) {
  ApiWorld world;
  Answer made = world.post(kMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("kind"), "ConfigMap");
  EXPECT_EQ(made.at("apiVersion"), "v1");
}

TEST(Create, another_kind_or_version_is_refused) {
  ApiWorld world;
  EXPECT_EQ(
      world.post(kMaps, R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}})").status,
      400);
  Answer wrong =
      world.post(kMaps, R"({"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"a"}})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.at("message"),
            "the API version in the data (v2) does not match the expected API version (v1)");
}

TEST(Create, generates_a_name_from_a_prefix) {
  ApiWorld world;
  Answer made = world.post(kMaps, R"({"metadata":{"generateName":"a-"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("metadata.name").size(), 7u);
  EXPECT_TRUE(made.at("metadata.name").starts_with("a-"));
}

TEST(Create, a_namespace_shows_its_generated_name_as_a_label) {
  ApiWorld world;
  Answer made = world.post("/api/v1/namespaces",
                           R"({"metadata":{"generateName":"team-","labels":{"z":"1"}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  ASSERT_NE(made.find("metadata.labels"), nullptr);
  const json::Value* label = made.find("metadata.labels")->find("kubernetes.io/metadata.name");
  ASSERT_NE(label, nullptr) << made.body;
  EXPECT_EQ(label->as_string(), made.at("metadata.name"));
  EXPECT_EQ(made.at("metadata.labels.z"), "1");
}

TEST(Create, a_job_labels_its_pods_with_its_generated_name) {
  ApiWorld world;
  Answer made = world.post("/apis/batch/v1/namespaces/default/jobs",
                           R"({"metadata":{"generateName":"train-"},"spec":{"template":{"spec":{
      "restartPolicy":"Never","containers":[{"name":"c","image":"x:1"}]}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string name = made.at("metadata.name");
  EXPECT_TRUE(name.starts_with("train-")) << name;
  for (const char* path : {"metadata.labels", "spec.template.metadata.labels"}) {
    for (const char* key : {"job-name", "batch.kubernetes.io/job-name"}) {
      const json::Value* labels = made.find(path);
      ASSERT_NE(labels, nullptr) << made.body;
      ASSERT_NE(labels->find(key), nullptr) << made.body;
      EXPECT_EQ(labels->find(key)->as_string(), name);
    }
  }
}

TEST(Create, another_namespace_in_the_body_is_refused) {
  ApiWorld world;
  Answer made = world.post(kMaps, map_text("a", ",\"namespace\":\"other\""));
  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(made.at("message"),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
}

TEST(Create, a_bad_name_is_invalid_with_its_field) {
  ApiWorld world;
  Answer made = world.post(kMaps, map_text("Not_Good"));
  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.at("reason"), "Invalid");
  EXPECT_EQ(made.at("details.causes.0.field"), "metadata.name");
  EXPECT_EQ(made.at("details.causes.0.reason"), "FieldValueInvalid");
  EXPECT_TRUE(
      made.at("message").starts_with("ConfigMap \"Not_Good\" is invalid: metadata.name: "
                                     "Invalid value: \"Not_Good\": "))
      << made.at("message");
}

TEST(Create, a_name_is_required) {
  ApiWorld world;
  Answer made = world.post(kMaps, "{}");
  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.at("details.causes.0.message"),
            "Required value: name or generateName is required");
}

TEST(Create, a_resource_version_is_refused) {
  ApiWorld world;
  EXPECT_EQ(world.post(kMaps, map_text("a", ",\"resourceVersion\":\"5\"")).at("message"),
            "resourceVersion should not be set on objects to be created");
}

TEST(Create, dry_run_answers_and_writes_nothing) {
  ApiWorld world;
  Answer made = world.post(kMaps + "?dryRun=All", map_text("a"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(world.get(kMaps + "/a").status, 404);
  EXPECT_EQ(world.store().revision(), 1u);
  EXPECT_EQ(world.post(kMaps + "?dryRun=Some", map_text("a")).status, 422);
}

TEST(Create, reads_yaml) {
  ApiWorld world;
  Answer made = world.post(kMaps, "metadata:\n  name: a\ndata:\n  k: v\n",
                           {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("data.k"), "v");
}

TEST(Create, other_types_are_415) {
  ApiWorld world;
  Answer made = world.post(kMaps, map_text("a"), {{"Content-Type", "application/cbor"}});
  EXPECT_EQ(made.status, 415);
  EXPECT_EQ(made.at("reason"), "UnsupportedMediaType");
}

TEST(Create, what_is_no_json_is_400) {
  ApiWorld world;
  EXPECT_EQ(world.post(kMaps, "{").status, 400);
  EXPECT_EQ(world.post(kMaps, "[]").status, 400);
  EXPECT_EQ(world.post(kMaps, "").status, 400);
}

TEST(Create, null_says_nothing_about_the_object) {
  ApiWorld world;
  Answer made = world.post(kMaps, "null");
  EXPECT_EQ(made.status, 422);
  EXPECT_TRUE(made.at("message").contains("name or generateName is required")) << made.body;
  ASSERT_EQ(world.post(kMaps, map_text("a")).status, 201);
  EXPECT_EQ(world.put(kMaps + "/a", "null").status, 400);
  EXPECT_EQ(world.remove(kMaps + "/a", "null").status, 200);
}

TEST(Create, what_is_no_text_is_replaced) {
  ApiWorld world;
  Answer made =
      world.post(kMaps, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"x\xff\\ud800y\"}}");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("data.k"), "x\xef\xbf\xbd\xef\xbf\xbdy");
  Answer patched = world.patch(kMaps + "/a", "merge", "{\"data\":{\"k\":\"\xff\"}}");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(world.get(kMaps + "/a").at("data.k"), "\xef\xbf\xbd");
}

TEST(Create, too_much_body_is_413) {
  ApiWorld world({.service = {.body_bytes_max = 100}});
  Answer made = world.post(kMaps, map_text("a", ",\"x\":\"" + std::string(200, 'x') + "\""));
  EXPECT_EQ(made.status, 413);
  EXPECT_EQ(made.at("reason"), "RequestEntityTooLarge");
}

TEST(FieldValidation, strict_refuses_unknown_and_duplicate_fields) {
  ApiWorld world;
  const std::string body = R"({"metadata":{"name":"a"},"spec":{},"data":{"k":"1","k":"2"}})";
  Answer strict = world.post(kMaps + "?fieldValidation=Strict", body);
  EXPECT_EQ(strict.status, 400);
  EXPECT_EQ(strict.at("message"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "unknown field \"spec\", duplicate field \"data.k\"");
}

TEST(FieldValidation, warnings_are_the_default_and_ignore_is_silent) {
  ApiWorld world;
  Answer warned = world.post(kMaps, R"({"metadata":{"name":"a"},"spec":{}})");
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.headers.get("Warning"), "299 - \"unknown field \\\"spec\\\"\"");
  EXPECT_EQ(warned.at("spec"), "<absent>");
  Answer ignored =
      world.post(kMaps + "?fieldValidation=Ignore", R"({"metadata":{"name":"b"},"spec":{}})");
  EXPECT_EQ(ignored.status, 201);
  EXPECT_FALSE(ignored.headers.has("Warning"));
}

TEST(Get, shares_the_stored_text) {
  ApiWorld world;
  Answer made = world.post(kMaps, map_text("a"));
  Answer got = world.get(kMaps + "/a");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, made.body);
}

TEST(Get, what_is_not_there_is_404_in_upstreams_words) {
  ApiWorld world;
  Answer got = world.get(kMaps + "/nope");
  EXPECT_EQ(got.status, 404);
  EXPECT_EQ(got.at("message"), "configmaps \"nope\" not found");
  EXPECT_EQ(got.at("reason"), "NotFound");
  EXPECT_EQ(world.get("/apis/batch/v1/namespaces/d/jobs/x").at("message"),
            "jobs.batch \"x\" not found");
}

TEST(Get, unknown_resources_are_404) {
  ApiWorld world;
  Answer got = world.get("/apis/nope.example/v1/things");
  EXPECT_EQ(got.status, 404);
  EXPECT_EQ(got.at("message"), "the server could not find the requested resource");
}

TEST(Update, changes_the_object_and_its_version) {
  ApiWorld world;
  world.post(kMaps, map_text("a"));
  Answer put = world.put(kMaps + "/a", R"({"metadata":{"name":"a"},"data":{"k":"w"}})");
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(put.at("data.k"), "w");
  EXPECT_EQ(put.at("metadata.resourceVersion"), "3");
}

TEST(Update, a_stale_version_is_a_conflict_in_upstreams_words) {
  ApiWorld world;
  world.post(kMaps, map_text("a"));
  Answer put = world.put(kMaps + "/a", map_text("a", ",\"resourceVersion\":\"1\""));
  EXPECT_EQ(put.status, 409);
  EXPECT_EQ(put.at("reason"), "Conflict");
  EXPECT_EQ(put.at("message"),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
}

TEST(Update, another_uid_is_a_conflict) {
  ApiWorld world;
  world.post(kMaps, map_text("a"));
  Answer put = world.put(kMaps + "/a", map_text("a", ",\"uid\":\"x\""));
  EXPECT_EQ(put.status, 409);
  EXPECT_TRUE(put.at("message").contains("Precondition failed: UID in precondition: x"));
}

TEST(Update, writing_the_same_changes_nothing) {
  ApiWorld world;
  Answer made = world.post(kMaps, map_text("a"));
  Answer put = world.put(kMaps + "/a", made.body);
  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("metadata.resourceVersion"), made.at("metadata.resourceVersion"));
  EXPECT_EQ(world.store().revision(), 2u);
  // In another order it is still the same.
  put = world.put(kMaps + "/a", R"({"data":{"k":"v"},"metadata":{"name":"a"}})");
  EXPECT_EQ(put.at("metadata.resourceVersion"), "2");
}

TEST(Update, another_name_in_the_body_is_refused) {
  ApiWorld world;
  world.post(kMaps, map_text("a"));
  Answer put = world.put(kMaps + "/a", map_text("b"));
  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.at("message"), "the name of the object (b) does not match the name on the URL (a)");
  Answer nameless = world.put(kMaps + "/a", "{}");
  EXPECT_EQ(nameless.status, 400);
  EXPECT_EQ(nameless.at("message"),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
}

TEST(Update, what_is_not_there_is_404_unless_the_kind_is_made_on_update) {
  ApiWorld world;
  EXPECT_EQ(world.put(kMaps + "/a", map_text("a")).status, 404);
  Answer lease = world.put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
                           R"({"metadata":{"name":"l"},"spec":{}})");
  EXPECT_EQ(lease.status, 201) << lease.body;
}

TEST(Update, custom_resources_must_carry_their_version) {
  ApiWorld world;
  world.add_custom();
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  ASSERT_EQ(world.post(things, R"({"metadata":{"name":"a"},"spec":{"n":1}})").status, 201);
  Answer put = world.put(things + "/a", R"({"metadata":{"name":"a"},"spec":{"n":2}})");
  EXPECT_EQ(put.status, 422);
  EXPECT_EQ(put.at("message"),
            "Thing.example.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0x0: "
            "must be specified for an update");
}

TEST(Generation, grows_with_the_spec_only) {
  ApiWorld world;
  world.add_custom();
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  Answer made = world.post(things, R"({"metadata":{"name":"a"},"spec":{"n":1},"status":{"x":1}})");
  EXPECT_EQ(made.at("metadata.generation"), "1");
  EXPECT_EQ(made.at("status"), "<absent>");
  Answer labelled = world.patch(things + "/a", "merge", R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(labelled.at("metadata.generation"), "1");
  Answer changed = world.patch(things + "/a", "merge", R"({"spec":{"n":2},"status":{"x":2}})");
  EXPECT_EQ(changed.at("metadata.generation"), "2");
  EXPECT_EQ(changed.at("status"), "<absent>");
  Answer status =
      world.patch(things + "/a/status", "merge", R"({"spec":{"n":3},"status":{"x":2}})");
  EXPECT_EQ(status.at("metadata.generation"), "2");
  EXPECT_EQ(status.at("spec.n"), "2");
  EXPECT_EQ(status.at("status.x"), "2");
}

TEST(Generation, of_a_deployment_grows_with_its_annotations_too) {
  ApiWorld world;
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  world.post(deployments,
             R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":
                {"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  const std::string note = R"({"metadata":{"annotations":{"n":"1"}}})";
  EXPECT_EQ(world.patch(deployments + "/d", "merge", note).at("metadata.generation"), "2");
  EXPECT_EQ(world.patch(deployments + "/d", "merge", R"({"metadata":{"labels":{"l":"1"}}})")
                .at("metadata.generation"),
            "2");
  const std::string more = R"({"metadata":{"annotations":{"n":"2"}},"status":{"replicas":1}})";
  EXPECT_EQ(world.patch(deployments + "/d/status", "merge", more).at("metadata.generation"), "2");
}

}  // namespace
}  // namespace codeflare::apiserver
