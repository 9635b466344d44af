#include "controllers/access/access_table.h"

#include "base/split.h"
#include "controllers/access/user_roles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace codeflare::controllers {
namespace {

using runtime::Right;

TEST(Rules, join_verbs_of_one_resource_and_resources_of_the_same_verbs) {
  constexpr Right kRights[] = {
      {"get list", "", "pods services", "a"},
      {"watch get", "", "pods", "b"},
      {"list watch get", "", "nodes", "c"},
      {"patch", "", "pods", "d", "one"},
  };
  const std::vector<PolicyRule> rules = rules_of(kRights);
  const std::vector<PolicyRule> expected = {
      {.groups = {""}, .resources = {"services"}, .names = {}, .verbs = {"get", "list"}},
      {.groups = {""},
       .resources = {"nodes", "pods"},
       .names = {},
       .verbs = {"get", "list", "watch"}},
      {.groups = {""}, .resources = {"pods"}, .names = {"one"}, .verbs = {"patch"}}};
  EXPECT_EQ(rules, expected);
}

TEST(Rules, are_written_as_rbac_reads_them) {
  constexpr Right kRights[] = {{"patch", "apps", "deployments", "a", "one"}};
  EXPECT_EQ(rules_json(rules_of(kRights)),
            R"([{"apiGroups":["apps"],"resources":["deployments"],"resourceNames":["one"],)"
            R"("verbs":["patch"]}])");
}

// A verb that the order does not know would be lost.
TEST(Rules, lose_no_verb) {
  for (const std::span<const AccessPart> parts : {controller_access(), up_access()}) {
    for (const AccessPart& part : parts) {
      for (const Right& right : part.rights) {
        std::set<std::string_view> verbs;
        for (const std::string_view verb : split(right.verbs, ' ')) {
          verbs.insert(verb);
        }
        const Right one[] = {right};
        EXPECT_EQ(rules_of(one).front().verbs.size(), verbs.size()) << part.name << right.verbs;
        EXPECT_FALSE(right.why.empty()) << part.name;
      }
    }
  }
}

// OwnerReferencesPermissionEnforcement, which OpenShift turns on, asks for it when an object is
// made with blockOwnerDeletion. Upstream's controllers have the same right on the kinds that they
// own.
TEST(Rules, let_the_controller_make_what_blocks_the_deletion_of_its_owner) {
  for (const std::string_view owner : {"rayclusters", "rayjobs", "runs", "trainingjobs"}) {
    const std::string finalizers = std::string(owner) + "/finalizers";
    const auto rules = rules_of(controller_access());
    EXPECT_TRUE(std::ranges::any_of(rules, [&](const PolicyRule& rule) {
      return std::ranges::find(rule.resources, finalizers) != rule.resources.end() &&
             std::ranges::find(rule.verbs, "update") != rule.verbs.end();
    })) << finalizers;
  }
}

TEST(Parts, have_names_of_their_own) {
  for (const std::span<const AccessPart> parts : {controller_access(), up_access()}) {
    std::set<std::string_view> names;
    for (const AccessPart& part : parts) {
      EXPECT_TRUE(names.insert(part.name).second) << part.name;
    }
  }
}

// Quotas and policies decide about others: a RoleBinding to `admin` must not give them.
TEST(UserRoles, of_a_namespace_change_no_quota_and_no_policy) {
  for (const UserRole& role : user_roles()) {
    if (role.aggregate_to.empty()) {
      continue;
    }
    for (const Right& right : role.rights) {
      const bool decides = right.resources.contains("quotasubtrees") ||
                           right.resources.contains("runpolicies") ||
                           right.resources.contains("platformreposecrets");
      EXPECT_TRUE(!decides || right.verbs == "get list watch") << role.name;
    }
  }
}

TEST(UserRoles, are_aggregated_by_their_label) {
  EXPECT_TRUE(role_json(user_roles().front())
                  .contains(R"("labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"})"));
}

}  // namespace
}  // namespace codeflare::controllers
