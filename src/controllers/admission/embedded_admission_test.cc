#include "controllers/admission/embedded_admission.h"

#include "controllers/admission/testing/admission_world.h"

#include <gtest/gtest.h>

namespace codeflare::admission {
namespace {

using testing::AdmissionWorld;
using testing::Reply;
using testing::wrapper;

constexpr std::string_view kTeam =
    "/apis/workload.codeflare.dev/v1beta1/namespaces/team/appwrappers";

TEST(EmbeddedAdmission, records_who_submitted_and_holds_the_object_by_a_finalizer) {
  AdmissionWorld world;
  const Reply made = world.as("admin", "POST", kTeam, wrapper("w", "v1", "ConfigMap"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(
      made.at({"metadata", "annotations", "workload.codeflare.dev/submitted-by"}),
      R"("{\"username\":\"admin\",\"groups\":[\"system:masters\",\"system:authenticated\"]}")");
  EXPECT_EQ(made.at({"metadata", "finalizers"}), R"(["workload.codeflare.dev/finalizer"])");
}

TEST(EmbeddedAdmission, lets_a_user_wrap_only_what_they_may_create_themselves) {
  AdmissionWorld world;
  world.let_ann_submit_config_maps();
  EXPECT_EQ(world.as("ann", "POST", kTeam, wrapper("maps", "v1", "ConfigMap")).status, 201);
  const Reply refused = world.as("ann", "POST", kTeam, wrapper("pods", "v1", "Secret"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(
      refused.body.contains("spec.resources.GenericItems[0]: user \\\"ann\\\" cannot create "
                            "secrets in namespace \\\"team\\\""))
      << refused.body;
  const Reply unknown = world.as("ann", "POST", kTeam, wrapper("what", "example.com/v1", "What"));
  EXPECT_EQ(unknown.status, 403);
  EXPECT_TRUE(unknown.body.contains("does not serve")) << unknown.body;
}

TEST(EmbeddedAdmission, a_claim_to_be_somebody_else_is_overwritten) {
  AdmissionWorld world;
  world.let_ann_submit_config_maps();
  const Reply made = world.as("ann", "POST", kTeam,
                              wrapper("w", "v1", "ConfigMap",
                                      R"("annotations":{"workload.codeflare.dev/submitted-by":
                                         "{\"username\":\"admin\"}"},)"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_TRUE(made.at({"metadata", "annotations", "workload.codeflare.dev/submitted-by"})
                  .starts_with(R"("{\"username\":\"ann\")"))
      << made.body;
  const Reply changed = world.patch("admin", std::string(kTeam) + "/w",
                                    R"({"metadata":{"annotations":
                                       {"workload.codeflare.dev/submitted-by":"eve"}}})");
  EXPECT_EQ(changed.status, 200);
  EXPECT_TRUE(changed.at({"metadata", "annotations", "workload.codeflare.dev/submitted-by"})
                  .starts_with(R"("{\"username\":\"ann\")"))
      << changed.body;
}

TEST(EmbeddedAdmission, records_when_to_the_microsecond_whatever_users_write) {
  AdmissionWorld world;
  const auto time_of = [](const Reply& reply) {
    return reply.at({"metadata", "annotations", "workload.codeflare.dev/submitted-at"});
  };
  const std::string before = to_rfc3339(world.env().clock.wall(), 6);
  const Reply made = world.as("admin", "POST", kTeam,
                              wrapper("w", "v1", "ConfigMap",
                                      R"("annotations":{"workload.codeflare.dev/submitted-at":
                                         "2000-01-01T00:00:00.000000Z"},)"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_GE(time_of(made), "\"" + before);
  EXPECT_LE(time_of(made), "\"" + to_rfc3339(world.env().clock.wall(), 6) + "\"");
  const Reply changed = world.patch("admin", std::string(kTeam) + "/w",
                                    R"({"metadata":{"annotations":
                                       {"workload.codeflare.dev/submitted-at":null}}})");
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(time_of(changed), time_of(made));
}

TEST(EmbeddedAdmission, a_right_to_objects_of_certain_names_is_no_right_to_create_them) {
  AdmissionWorld world;
  world.let_ann_submit_config_maps();
  ASSERT_EQ(world
                .as("admin", "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles",
                    R"({"metadata":{"name":"one-secret"},"rules":[{"verbs":["create"],
                        "apiGroups":[""],"resources":["secrets"],"resourceNames":["item"]}]})")
                .status,
            201);
  ASSERT_EQ(
      world
          .as("admin", "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings",
              R"({"metadata":{"name":"ann-secret"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
           "kind":"Role","name":"one-secret"},"subjects":[{"kind":"User","name":"ann",
           "apiGroup":"rbac.authorization.k8s.io"}]})")
          .status,
      201);
  EXPECT_EQ(
      world.as("ann", "POST", "/api/v1/namespaces/team/secrets", R"({"metadata":{"name":"item"}})")
          .status,
      403);
  EXPECT_EQ(world.as("ann", "POST", kTeam, wrapper("w", "v1", "Secret")).status, 403);
}

TEST(EmbeddedAdmission, while_it_holds_places_its_finalizer_and_quota_labels_stay) {
  AdmissionWorld world;
  world.make_quota_tree("team");
  ASSERT_EQ(world.as("admin", "POST", kTeam, wrapper("w", "v1", "ConfigMap")).status, 201);
  const std::string path = std::string(kTeam) + "/w";
  EXPECT_EQ(world.patch("admin", path, R"({"metadata":{"labels":{"team":"gold"}}})").status, 200);
  ASSERT_EQ(world.patch("admin", path + "/status", R"({"status":{"plan":{"places":[]}}})").status,
            200);
  const Reply bare = world.patch("admin", path, R"({"metadata":{"finalizers":[]}})");
  ASSERT_EQ(bare.status, 200) << bare.body;
  EXPECT_EQ(bare.at({"metadata", "finalizers"}), R"(["workload.codeflare.dev/finalizer"])");
  const Reply moved =
      world.patch("admin", path, R"({"metadata":{"labels":{"team":"somebody-elses"}}})");
  EXPECT_EQ(moved.status, 422) << moved.body;
  EXPECT_TRUE(moved.body.contains("metadata.labels[team]: cannot be changed")) << moved.body;
  EXPECT_EQ(world.patch("admin", path, R"({"metadata":{"labels":{"team":null}}})").status, 422);
  EXPECT_EQ(world.patch("admin", path, R"({"metadata":{"labels":{"acme.com/note":"x"}}})").status,
            200)
      << "it names no quota";
  ASSERT_EQ(world.patch("admin", path + "/status", R"({"status":{"plan":null}})").status, 200);
  const Reply freed =
      world.patch("admin", path, R"({"metadata":{"labels":{"team":null},"finalizers":[]}})");
  EXPECT_EQ(freed.status, 200) << freed.body;
  EXPECT_NE(freed.at({"metadata", "finalizers"}), R"(["workload.codeflare.dev/finalizer"])");
}

TEST(EmbeddedAdmission, labels_that_are_no_quota_tree_change_also_while_it_holds_places) {
  AdmissionWorld world;
  ASSERT_EQ(world.as("admin", "POST", kTeam, wrapper("w", "v1", "ConfigMap")).status, 201);
  const std::string path = std::string(kTeam) + "/w";
  ASSERT_EQ(world.patch("admin", path + "/status", R"({"status":{"plan":{"places":[]}}})").status,
            200);
  const auto label = [&](const std::string& labels) {
    return world.patch("admin", path, R"({"metadata":{"labels":)" + labels + "}}");
  };
  EXPECT_EQ(label(R"({"team":"gold"})").status, 200) << "there are no quota trees at all";
  world.make_quota_tree("project");
  EXPECT_EQ(label(R"({"team":"blue","note":"x"})").status, 200);
  EXPECT_EQ(label(R"({"note":null})").status, 200);
  const Reply moved = label(R"({"note":"y","project":"p"})");
  EXPECT_EQ(moved.status, 422) << moved.body;
  EXPECT_TRUE(moved.body.contains("metadata.labels[project]: cannot be changed")) << moved.body;
  world.make_quota_tree("team");
  EXPECT_EQ(label(R"({"team":null})").status, 422);
  EXPECT_EQ(label(R"({"team":"blue","note":"z"})").status, 200) << "the tree's label stays";
}

TEST(EmbeddedAdmission, of_the_spec_only_priority_and_suspend_change_later) {
  AdmissionWorld world;
  ASSERT_EQ(world.as("admin", "POST", kTeam, wrapper("w", "v1", "ConfigMap")).status, 201);
  const std::string path = std::string(kTeam) + "/w";
  EXPECT_EQ(world.patch("admin", path, R"({"spec":{"priority":7,"suspend":true}})").status, 200);
  const Reply refused = world.patch("admin", path, R"({"spec":{"resources":{"GenericItems":[]}}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_TRUE(refused.body.contains("spec.resources: resources cannot be changed")) << refused.body;
  EXPECT_EQ(world.patch("admin", path, R"({"spec":{"schedulingSpec":{"minAvailable":2}}})").status,
            422);
}

TEST(EmbeddedAdmission, broken_wrappers_are_refused_by_field) {
  AdmissionWorld world;
  const Reply elsewhere = world.as(
      "admin", "POST", kTeam, wrapper("w", "v1", "ConfigMap", "", R"("namespace":"default",)"));
  EXPECT_EQ(elsewhere.status, 422) << elsewhere.body;
  EXPECT_TRUE(elsewhere.body.contains("GenericItems[0]")) << elsewhere.body;
  const Reply outside = world.as("admin", "POST", kTeam, wrapper("w", "v1", "Namespace"));
  EXPECT_EQ(outside.status, 422) << outside.body;
  EXPECT_TRUE(outside.body.contains("namespaces are cluster-scoped")) << outside.body;
  const Reply nested = world.as("admin", "POST", kTeam,
                                wrapper("w", "workload.codeflare.dev/v1beta1", "AppWrapper"));
  EXPECT_EQ(nested.status, 422) << nested.body;
}

TEST(EmbeddedAdmission, a_refusal_has_a_cause_for_every_problem) {
  AdmissionWorld world;
  const Reply two = world.as(
      "admin", "POST", kTeam,
      wrapper("w", "v1", "ConfigMap", "", R"("namespace":"default","labels":{"a: b":7},)"));
  EXPECT_EQ(two.status, 422) << two.body;
  EXPECT_EQ(two.at({"reason"}), R"("Invalid")");
  EXPECT_EQ(two.at({"details", "kind"}), R"("AppWrapper")");
  EXPECT_EQ(two.at({"details", "group"}), R"("workload.codeflare.dev")");
  EXPECT_EQ(two.at({"details", "name"}), R"("w")");
  const std::string item = "spec.resources.GenericItems[0].generictemplate.metadata";
  EXPECT_EQ(two.at({"details", "causes"}),
            R"([{"reason":"FieldValueInvalid","message":"must be the AppWrapper's own, team, or )"
            R"(be left out","field":")" +
                item + R"(.namespace"},{"reason":"FieldValueInvalid","message":"expected a )" +
                R"(string","field":")" + item + R"(.labels[a: b]"}])");
  EXPECT_EQ(two.at({"message"}),
            R"("AppWrapper.workload.codeflare.dev \"w\" is invalid: [)" + item +
                ".namespace: must be the AppWrapper's own, team, or be left out, " + item +
                R"(.labels[a: b]: expected a string]")");
  const Reply outside = world.as("admin", "POST", kTeam, wrapper("w", "v1", "Namespace"));
  EXPECT_TRUE(
      outside.at({"details", "causes"}).contains(R"("field":"spec.resources.GenericItems[0]")"))
      << outside.body;
  const Reply bare = world.as("admin", "POST", kTeam, R"({"apiVersion":
      "workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{"name":"w"},
      "spec":{"resources":{}}})");
  EXPECT_EQ(
      bare.at({"details", "causes"}),
      R"([{"reason":"FieldValueRequired","message":"required: an AppWrapper needs at least one item",)"
      R"("field":"spec.resources.GenericItems"}])");
}

}  // namespace
}  // namespace codeflare::admission
