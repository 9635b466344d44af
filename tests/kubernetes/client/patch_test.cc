#include "model/status.h"
#include "tests/kubernetes/client/cluster.h"

namespace codeflare::kube {
namespace {

class PatchTest : public ClusterTest {
 protected:
  Result<ObjectRef> patch(PatchKind kind, const std::string& body) {
    return run(client().patch(kConfigMaps, key("a"), kind, body));
  }
  Result<ObjectRef> apply(const std::string& value, WriteOptions options) {
    return run(client().apply(kConfigMaps, key("a"), config_map("a", value), std::move(options)));
  }
  // A Deployment "d" of two containers.
  void create_deployment() {
    Result<ObjectRef> made = run(client().create(
        kDeployments, ns_, R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
          "spec":{"replicas":2,"selector":{"matchLabels":{"app":"d"}},
          "template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[
            {"name":"one","image":"image-one"},{"name":"two","image":"image-two"}]}}}})"));
    ASSERT_TRUE(made) << made.error().to_string();
  }
  std::string number_at(const ObjectRef& object, std::initializer_list<std::string_view> path) {
    Result<json::Document> tree = object->parse();
    const json::Value* value = tree ? tree->root.get(path) : nullptr;
    return value != nullptr && value->is_number() ? std::string(value->number()) : "none";
  }
};

TEST_F(PatchTest, a_json_patch_is_done_whole_or_not_at_all) {
  ASSERT_TRUE(create("a", "1"));
  EXPECT_EQ(outcome(patch(PatchKind::json,
                          R"([{"op":"test","path":"/data/value","value":"1"},
                              {"op":"replace","path":"/data/value","value":"2"}])")),
            "ok");
  EXPECT_EQ(value_of("a"), "2");
  EXPECT_EQ(outcome(patch(PatchKind::json,
                          R"([{"op":"replace","path":"/data/value","value":"3"},
                              {"op":"test","path":"/data/value","value":"1"}])")),
            "invalid_argument");
  EXPECT_EQ(value_of("a"), "2");
}

TEST_F(PatchTest, a_merge_patch_sets_and_removes) {
  ASSERT_TRUE(create("a", "1"));
  Result<ObjectRef> patched = patch(PatchKind::merge, R"({"data":{"value":null,"more":"2"}})");
  ASSERT_TRUE(patched) << patched.error().to_string();
  EXPECT_EQ((*patched)->string_at({"data", "more"}), "2");
  EXPECT_EQ(value_of("a"), "");
}

TEST_F(PatchTest, a_strategic_patch_finds_containers_by_name) {
  create_deployment();
  Result<ObjectRef> patched = run(client().patch(kDeployments, key("d"), PatchKind::strategic_merge,
                                                 R"({"spec":{"template":{"spec":{"containers":[
                         {"name":"two","image":"image-new"}]}}}})"));
  ASSERT_TRUE(patched) << patched.error().to_string();
  EXPECT_TRUE((*patched)->text().contains("image-one"));
  EXPECT_TRUE((*patched)->text().contains("image-new"));
  EXPECT_FALSE((*patched)->text().contains("image-two"));
}

TEST_F(PatchTest, apply_makes_the_object_and_owns_its_fields) {
  Result<ObjectRef> made = apply("1", {.field_manager = "one"});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_TRUE((*made)->text().contains(R"("manager":"one")"));
  Result<ObjectRef> again = patch(PatchKind::apply, config_map("a", "2"));
  EXPECT_EQ(outcome(again), "conflict") << "the client's own manager is another one";
}

TEST_F(PatchTest, apply_conflicts_name_the_field_and_its_owner_until_forced) {
  ASSERT_EQ(outcome(apply("1", {.field_manager = "one"})), "ok");
  EXPECT_EQ(outcome(apply("1", {.field_manager = "two"})), "ok") << "the same value is shared";
  ASSERT_EQ(outcome(apply("2", {.field_manager = "two", .force = true})), "ok");
  Result<ObjectRef> refused = apply("3", {.field_manager = "one"});
  ASSERT_EQ(outcome(refused), "conflict");
  const model::StatusCause* cause = model::find_cause(refused.error(), "FieldManagerConflict");
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(cause->field, ".data.value");
  EXPECT_TRUE(cause->message.contains("\"two\"")) << cause->message;
  EXPECT_EQ(value_of("a"), "2");
  EXPECT_EQ(outcome(apply("3", {.field_manager = "one", .force = true})), "ok");
  EXPECT_EQ(value_of("a"), "3");
}

TEST_F(PatchTest, a_dry_run_of_apply_shows_the_result_alone) {
  ASSERT_EQ(outcome(apply("1", {.field_manager = "one"})), "ok");
  Result<ObjectRef> dry = apply("2", {.field_manager = "one", .dry_run = true});
  ASSERT_TRUE(dry) << dry.error().to_string();
  EXPECT_EQ((*dry)->string_at({"data", "value"}), "2");
  EXPECT_EQ(value_of("a"), "1");
}

TEST_F(PatchTest, unknown_fields_are_refused_when_validation_is_strict) {
  const std::string body =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"dta":{"value":"1"}})";
  Result<ObjectRef> refused =
      run(client().create(kConfigMaps, ns_, body, {.field_validation = "Strict"}));
  EXPECT_EQ(outcome(refused), "invalid_argument");
  EXPECT_TRUE(refused.error().message.contains("dta")) << refused.error().message;
}

TEST_F(PatchTest, the_status_is_written_apart_from_the_rest) {
  create_deployment();
  const std::string body = R"({"spec":{"replicas":5},"status":{"replicas":7}})";
  Result<ObjectRef> status = run(
      client().patch(kDeployments, key("d"), PatchKind::merge, body, {.subresource = "status"}));
  ASSERT_TRUE(status) << status.error().to_string();
  EXPECT_EQ(number_at(*status, {"spec", "replicas"}), "2");
  EXPECT_EQ(number_at(*status, {"status", "replicas"}), "7");
  Result<ObjectRef> spec =
      run(client().patch(kDeployments, key("d"), PatchKind::merge,
                         R"({"spec":{"replicas":5},"status":{"replicas":8}})"));
  ASSERT_TRUE(spec) << spec.error().to_string();
  EXPECT_EQ(number_at(*spec, {"spec", "replicas"}), "5");
  EXPECT_EQ(number_at(*spec, {"status", "replicas"}), "7");
  Result<ObjectRef> scale = run(client().get(kDeployments, key("d"), "scale"));
  ASSERT_TRUE(scale) << scale.error().to_string();
  EXPECT_EQ((*scale)->kind(), "Scale");
  EXPECT_EQ(number_at(*scale, {"spec", "replicas"}), "5");
}

}  // namespace
}  // namespace codeflare::kube
