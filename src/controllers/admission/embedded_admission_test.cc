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
      refused.body.contains("user \\\"ann\\\" may not create secrets in namespace "
                            "\\\"team\\\" (spec.resources.GenericItems[0])"))
      << refused.body;
  const Reply unknown = world.as("ann", "POST", kTeam, wrapper("what", "example.com/v1", "What"));
  EXPECT_EQ(unknown.status, 403);
  EXPECT_TRUE(unknown.body.contains("does not know")) << unknown.body;
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

TEST(EmbeddedAdmission, of_the_spec_only_priority_and_suspend_change_later) {
  AdmissionWorld world;
  ASSERT_EQ(world.as("admin", "POST", kTeam, wrapper("w", "v1", "ConfigMap")).status, 201);
  const std::string path = std::string(kTeam) + "/w";
  EXPECT_EQ(world.patch("admin", path, R"({"spec":{"priority":7,"suspend":true}})").status, 200);
  const Reply refused = world.patch("admin", path, R"({"spec":{"resources":{"GenericItems":[]}}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_TRUE(refused.body.contains("spec.resources: may not be changed")) << refused.body;
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
  EXPECT_TRUE(outside.body.contains("namespaces belong to no namespace")) << outside.body;
  const Reply nested = world.as("admin", "POST", kTeam,
                                wrapper("w", "workload.codeflare.dev/v1beta1", "AppWrapper"));
  EXPECT_EQ(nested.status, 422) << nested.body;
}

}  // namespace
}  // namespace codeflare::admission
