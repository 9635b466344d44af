#include "apiserver/identity/rbac_policy.h"

#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

void put(RbacPolicy& policy, RbacKind kind, std::string_view text) {
  auto parsed = json::parse(text);
  ASSERT_TRUE(parsed.has_value()) << text;
  policy.put(kind, parsed->root);
}

User user(std::string name, std::vector<std::string> groups = {"system:authenticated"}) {
  return {.name = std::move(name), .groups = std::move(groups)};
}

// Ann may do everything with ConfigMaps in team-a, and nothing else.
void give_ann_config_maps(RbacPolicy& policy) {
  put(policy, RbacKind::role,
      R"({"metadata":{"name":"maps","namespace":"team-a"},
          "rules":[{"verbs":["*"],"apiGroups":[""],"resources":["configmaps"]}]})");
  put(policy, RbacKind::role_binding,
      R"({"metadata":{"name":"ann-maps","namespace":"team-a"},
          "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"maps"},
          "subjects":[{"kind":"User","name":"ann"}]})");
}

TEST(RbacPolicy, a_role_for_config_maps_in_one_namespace_allows_exactly_that) {
  RbacPolicy policy;
  give_ann_config_maps(policy);
  const std::vector<std::string> verbs = {"get",    "list",  "watch",  "create",
                                          "update", "patch", "delete", "deletecollection"};
  const std::vector<std::pair<std::string, std::string>> resources = {
      {"", "configmaps"},
      {"", "pods"},
      {"", "secrets"},
      {"", "serviceaccounts"},
      {"", "namespaces"},
      {"apps", "deployments"},
      {"apps", "configmaps"},
      {"batch", "jobs"},
      {"rbac.authorization.k8s.io", "roles"},
      {"rbac.authorization.k8s.io", "rolebindings"},
      {"workload.codeflare.dev", "appwrappers"},
  };
  for (const std::string& verb : verbs) {
    for (const auto& [group, resource] : resources) {
      for (const std::string ns : {"team-a", "team-b", ""}) {
        for (const std::string subresource : {"", "status"}) {
          const Access access{.verb = verb,
                              .group = group,
                              .resource = resource,
                              .subresource = subresource,
                              .ns = ns,
                              .name = "x"};
          bool expected =
              group.empty() && resource == "configmaps" && ns == "team-a" && subresource.empty();
          EXPECT_EQ(policy.authorize(user("ann"), access).allowed, expected)
              << verb << ' ' << resource << '.' << group << '/' << subresource << " in " << ns;
          EXPECT_FALSE(policy.authorize(user("bob"), access).allowed);
        }
      }
    }
    EXPECT_FALSE(policy.authorize(user("ann"), {.verb = verb, .path = "/api"}).allowed);
  }
  EXPECT_FALSE(policy
                   .authorize(user("ann"),
                              {.verb = "impersonate", .resource = "users", .name = "system:admin"})
                   .allowed);
}

TEST(RbacPolicy, says_why) {
  RbacPolicy policy;
  give_ann_config_maps(policy);
  put(policy, RbacKind::cluster_role,
      R"({"metadata":{"name":"reader"},
          "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}]})");
  put(policy, RbacKind::cluster_role_binding,
      R"({"metadata":{"name":"readers"},"roleRef":{"kind":"ClusterRole","name":"reader"},
          "subjects":[{"kind":"Group","name":"ops"},
                      {"kind":"ServiceAccount","name":"robot","namespace":"team-b"}]})");
  EXPECT_EQ(policy.authorize(user("ann"), {.verb = "get", .resource = "configmaps", .ns = "team-a"})
                .reason,
            R"(RBAC: allowed by RoleBinding "ann-maps/team-a" of Role "maps" to User "ann")");
  EXPECT_EQ(
      policy.authorize(user("eve", {"ops"}), {.verb = "get", .resource = "nodes"}).reason,
      R"(RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "ops")");
  EXPECT_EQ(policy
                .authorize(user("system:serviceaccount:team-b:robot"),
                           {.verb = "get", .resource = "nodes"})
                .reason,
            R"(RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" )"
            R"(to ServiceAccount "robot/team-b")");
  EXPECT_EQ(policy.authorize(user("ann"), {.verb = "get", .resource = "nodes"}).reason, "");
}

TEST(RbacPolicy, a_binding_to_a_missing_role_grants_nothing_and_is_named) {
  RbacPolicy policy;
  put(policy, RbacKind::cluster_role_binding,
      R"({"metadata":{"name":"b1"},"roleRef":{"kind":"ClusterRole","name":"gone"},
          "subjects":[{"kind":"User","name":"ann"}]})");
  const Access access{.verb = "get", .resource = "pods", .ns = "x"};
  EXPECT_EQ(policy.authorize(user("ann"), access).reason,
            R"(RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found)");
  put(policy, RbacKind::role_binding,
      R"({"metadata":{"name":"b2","namespace":"x"},"roleRef":{"kind":"Role","name":"too"},
          "subjects":[{"kind":"User","name":"ann"}]})");
  Authorizer::Decision decision = policy.authorize(user("ann"), access);
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.reason, R"(RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, )"
                             R"(role.rbac.authorization.k8s.io "too" not found])");
}

TEST(RbacPolicy, a_cluster_role_bound_in_a_namespace_holds_only_there) {
  RbacPolicy policy;
  put(policy, RbacKind::cluster_role,
      R"({"metadata":{"name":"all"},
          "rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},
                   {"verbs":["*"],"nonResourceURLs":["*"]}]})");
  put(policy, RbacKind::role_binding,
      R"({"metadata":{"name":"b","namespace":"x"},"roleRef":{"kind":"ClusterRole","name":"all"},
          "subjects":[{"kind":"ServiceAccount","name":"sa"}]})");
  User robot = user("system:serviceaccount:x:sa");
  EXPECT_TRUE(policy.authorize(robot, {.verb = "get", .resource = "pods", .ns = "x"}).allowed);
  EXPECT_FALSE(policy.authorize(robot, {.verb = "get", .resource = "pods", .ns = "y"}).allowed);
  EXPECT_FALSE(policy.authorize(robot, {.verb = "get", .resource = "nodes"}).allowed);
  EXPECT_FALSE(policy.authorize(robot, {.verb = "get", .path = "/metrics"}).allowed);
  EXPECT_FALSE(policy
                   .authorize(user("system:serviceaccount:y:sa"),
                              {.verb = "get", .resource = "pods", .ns = "x"})
                   .allowed);
}

TEST(RbacPolicy, masters_pass_without_any_rule) {
  RbacPolicy policy;
  EXPECT_TRUE(
      policy.authorize(user("root", {"system:masters"}), {.verb = "delete", .resource = "nodes"})
          .allowed);
  EXPECT_TRUE(
      policy.authorize(user("root", {"system:masters"}), {.verb = "x", .path = "/y"}).allowed);
  EXPECT_FALSE(policy.authorize(user("system:masters"), {.verb = "x", .path = "/y"}).allowed);
}

TEST(RbacPolicy, follows_changes_and_removals) {
  RbacPolicy policy;
  give_ann_config_maps(policy);
  const Access access{.verb = "get", .resource = "configmaps", .ns = "team-a"};
  EXPECT_TRUE(policy.authorize(user("ann"), access).allowed);
  put(policy, RbacKind::role_binding,
      R"({"metadata":{"name":"ann-maps","namespace":"team-a"},
          "roleRef":{"kind":"Role","name":"maps"},"subjects":[{"kind":"User","name":"bob"}]})");
  EXPECT_FALSE(policy.authorize(user("ann"), access).allowed);
  EXPECT_TRUE(policy.authorize(user("bob"), access).allowed);
  put(policy, RbacKind::role, R"({"metadata":{"name":"maps","namespace":"team-a"}})");
  EXPECT_FALSE(policy.authorize(user("bob"), access).allowed);
  give_ann_config_maps(policy);
  policy.remove(RbacKind::role_binding, "team-a", "ann-maps");
  EXPECT_FALSE(policy.authorize(user("ann"), access).allowed);
  give_ann_config_maps(policy);
  policy.remove(RbacKind::role, "team-a", "maps");
  EXPECT_FALSE(policy.authorize(user("ann"), access).allowed);
  policy.remove(RbacKind::role, "team-a", "maps");
  policy.remove(RbacKind::cluster_role, "", "never");
  policy.remove(RbacKind::role_binding, "never", "never");
}

TEST(RbacPolicy, aggregated_roles_gather_at_once_and_through_each_other) {
  RbacPolicy policy;
  auto gathering = [](std::string name, std::string labels, std::string wants) {
    return R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
           R"(}},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{")" + wants +
           R"(":"true"}}]},"rules":[{"verbs":["stale"],"apiGroups":[""],"resources":["x"]}]})";
  };
  put(policy, RbacKind::cluster_role, gathering("admin", "", "to-admin"));
  put(policy, RbacKind::cluster_role, gathering("edit", R"("to-admin":"true")", "to-edit"));
  put(policy, RbacKind::cluster_role_binding,
      R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"admin"},
          "subjects":[{"kind":"User","name":"ann"}]})");
  const Access access{.verb = "get", .group = "new.io", .resource = "things"};
  EXPECT_FALSE(policy.authorize(user("ann"), access).allowed);
  EXPECT_FALSE(policy.authorize(user("ann"), {.verb = "stale", .resource = "x"}).allowed);
  put(policy, RbacKind::cluster_role,
      R"({"metadata":{"name":"things","labels":{"to-edit":"true"}},
          "rules":[{"verbs":["get"],"apiGroups":["new.io"],"resources":["things"]},
                   {"verbs":["get"],"apiGroups":["new.io"],"resources":["things"]}]})");
  EXPECT_TRUE(policy.authorize(user("ann"), access).allowed);

  std::vector<RbacPolicy::Outdated> outdated = policy.outdated_aggregates();
  ASSERT_EQ(outdated.size(), 2u);
  EXPECT_EQ(outdated[0].name, "admin");
  EXPECT_EQ(outdated[1].name, "edit");
  ASSERT_EQ(outdated[0].rules.size(), 1u);
  EXPECT_EQ(outdated[0].rules[0].resources, std::vector<std::string>{"things"});

  policy.remove(RbacKind::cluster_role, "", "things");
  EXPECT_FALSE(policy.authorize(user("ann"), access).allowed);
}

TEST(RbacPolicy, roles_that_gather_each_other_end_and_forget) {
  RbacPolicy policy;
  for (const std::string name : {"a", "b"}) {
    put(policy, RbacKind::cluster_role,
        R"({"metadata":{"name":")" + name + R"(","labels":{"x":"y"}},
            "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"y"}}]}})");
  }
  put(policy, RbacKind::cluster_role,
      R"({"metadata":{"name":"c","labels":{"x":"y"}},
          "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  for (const RbacPolicy::Outdated& one : policy.outdated_aggregates()) {
    EXPECT_EQ(one.rules.size(), 1u) << one.name;
  }
  EXPECT_EQ(policy.outdated_aggregates().size(), 2u);
  policy.remove(RbacKind::cluster_role, "", "c");
  EXPECT_TRUE(policy.role_rules("ClusterRole", "", "a")->empty());
}

TEST(RbacPolicy, lists_the_rules_of_a_user) {
  RbacPolicy policy;
  give_ann_config_maps(policy);
  put(policy, RbacKind::cluster_role_binding,
      R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"gone"},
          "subjects":[{"kind":"User","name":"ann"}]})");
  RbacPolicy::Rules rules = policy.rules_for(user("ann"), "team-a");
  ASSERT_EQ(rules.rules.size(), 1u);
  EXPECT_EQ(rules.rules[0].resources, std::vector<std::string>{"configmaps"});
  EXPECT_EQ(rules.errors.size(), 1u);
  EXPECT_TRUE(policy.rules_for(user("ann"), "team-b").rules.empty());
  EXPECT_TRUE(policy.role_rules("Role", "team-a", "maps").has_value());
  EXPECT_EQ(policy.role_rules("Role", "team-b", "maps").error().message,
            R"(role.rbac.authorization.k8s.io "maps" not found)");
}

}  // namespace
}  // namespace codeflare::apiserver
