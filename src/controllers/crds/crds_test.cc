#include "controllers/crds/crds.h"

#include "controllers/admission/fixed_spec.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace codeflare::controllers {
namespace {

TEST(Crds, the_program_carries_all_definitions) {
  const Result<std::vector<EmbeddedCrd>> crds = embedded_crds();
  ASSERT_TRUE(crds.has_value()) << crds.error().message;
  std::vector<std::string> names;
  for (const EmbeddedCrd& crd : *crds) {
    names.push_back(crd.name + " " + crd.versions.front());
  }
  std::ranges::sort(names);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "applications.codeflare.dev v1alpha1", "appwrappers.mcad.ibm.com v1beta1",
                "appwrappers.workload.codeflare.dev v1beta1", "datasets.codeflare.dev v1alpha1",
                "images.codeflare.dev v1alpha1", "machinerequests.scale.codeflare.dev v1alpha1",
                "machinetypes.scale.codeflare.dev v1alpha1",
                "managedclusters.dispatch.codeflare.dev v1alpha1",
                "platformreposecrets.codeflare.dev v1alpha1",
                "quotasubtrees.quota.codeflare.dev v1alpha1", "rayclusters.ray.io v1",
                "rayjobs.ray.io v1", "runpolicies.codeflare.dev v1alpha1",
                "runs.codeflare.dev v1alpha1", "runsizeconfigurations.codeflare.dev v1alpha1",
                "trainingjobs.breezeml.ai v1", "usageledgers.usage.codeflare.dev v1alpha1"}));
  EXPECT_EQ(crd_texts().size(), 18u);
}

TEST(Crds, the_policy_comes_before_its_binding) {
  const Result<std::vector<EmbeddedObject>> policy = embedded_policy();
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  ASSERT_EQ(policy->size(), 2u);
  EXPECT_EQ(policy->at(0).type.kind, "ValidatingAdmissionPolicy");
  EXPECT_EQ(policy->at(1).type.kind, "ValidatingAdmissionPolicyBinding");
  const Result<json::Document> binding = json::parse(policy->at(1).json);
  EXPECT_EQ(binding->root.find("spec")->string_or_empty("policyName"), policy->at(0).name);
}

// The policy has to name what admission keeps by leaving out what may change: a new member of the
// spec must not be forgotten.
TEST(Crds, the_policy_says_what_admission_says_of_every_member_of_the_spec) {
  json::Document object = *json::parse(R"({"spec":{}})");
  for (const EmbeddedCrd& crd : *embedded_crds()) {
    if (crd.name != kAppWrapperCrd) {
      continue;
    }
    const json::Document definition = *json::parse(crd.json);
    const json::Value& version = definition.root.get({"spec", "versions"})->items()[0];
    for (const json::Member& member :
         version.get({"schema", "openAPIV3Schema", "properties", "spec", "properties"})
             ->members()) {
      object.root.find("spec")->set(object.arena, object.arena.copy(member.key),
                                    json::Value::boolean(true));
    }
  }
  const json::Document nothing = *json::parse("{}");
  std::vector<std::string> kept = admission::spec_changes(object.root, nothing.root);
  const json::Document policy = *json::parse(embedded_policy()->front().json);
  std::vector<std::string> said;
  for (const json::Value& rule : policy.root.get({"spec", "validations"})->items()) {
    said.emplace_back(rule.string_or_empty("message"));
    const std::string member = said.back().substr(5, said.back().find(':') - 5);
    EXPECT_EQ(rule.string_or_empty("expression"),
              "object.?spec.?" + member + " == oldObject.?spec.?" + member);
  }
  std::ranges::sort(kept);
  std::ranges::sort(said);
  EXPECT_EQ(kept.size(), 5u);
  EXPECT_EQ(kept, said);
}

// Two files, one kind: what users of the old group write means the same. tools/mcad_crd.py makes
// the second file of the first.
TEST(Crds, the_legacy_definition_differs_in_its_names_alone) {
  const auto schema = [](std::string_view name) {
    for (const std::string_view text : crd_texts()) {
      if (text.contains("name: " + std::string(name))) {
        return std::string(text.substr(text.find("  versions:")));
      }
    }
    return std::string();
  };
  EXPECT_FALSE(schema(kAppWrapperCrd).empty());
  EXPECT_EQ(schema(kAppWrapperCrd), schema(kLegacyAppWrapperCrd));
}

}  // namespace
}  // namespace codeflare::controllers
