#include "apiserver/identity/escalation_admission.h"

#include "apiserver/identity/testing/admission_call.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

const std::string kRef = R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":)";

class EscalationTest : public testing::Test {
 protected:
  EscalationTest() {
    put(RbacKind::cluster_role,
        R"({"metadata":{"name":"writer"},"rules":[{"verbs":["*"],
            "apiGroups":["rbac.authorization.k8s.io"],"resources":["*"]},
            {"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]})");
    put(RbacKind::cluster_role,
        R"({"metadata":{"name":"plain"},"rules":[{"verbs":["create","update"],
            "apiGroups":["rbac.authorization.k8s.io"],
            "resources":["roles","rolebindings","clusterroles","clusterrolebindings"]},
            {"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]})");
    put(RbacKind::cluster_role,
        R"({"metadata":{"name":"secrets"},
            "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]})");
    bind("ann", "plain");
    bind("bob", "writer");
  }
  void put(RbacKind kind, std::string_view text) {
    auto parsed = json::parse(text);
    ASSERT_TRUE(parsed.has_value());
    policy_.put(kind, parsed->root);
  }
  void bind(const std::string& user, const std::string& role) {
    put(RbacKind::cluster_role_binding,
        R"({"metadata":{"name":")" + user + R"("},)" + kRef + R"("ClusterRole","name":")" + role +
            R"("},"subjects":[{"kind":"User","name":")" + user + R"("}]})");
  }
  std::string write(const std::string& user, const std::string& plural, const std::string& object,
                    const std::string& old = "", std::vector<std::string> groups = {"g1", "g2"}) {
    bool namespaced = !plural.starts_with("cluster");
    return AdmissionCall{.user = {.name = user, .groups = std::move(groups)},
                         .group = "rbac.authorization.k8s.io",
                         .plural = plural,
                         .ns = namespaced ? "team" : "",
                         .name = "x",
                         .object = object,
                         .old = old}
        .run(rule_);
  }
  static std::string role(std::string_view rules, std::string_view more = "") {
    return R"({"metadata":{"name":"x"})" + std::string(more) + R"(,"rules":[)" +
           std::string(rules) + "]}";
  }
  static std::string binding(const std::string& kind, const std::string& name) {
    return R"({"metadata":{"name":"x"},)" + kRef + '"' + kind + R"(","name":")" + name + R"("}})";
  }

  RbacPolicy policy_;
  EscalationAdmission rule_{policy_};
};

const std::string kPods = R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})";
const std::string kSecrets =
    R"({"verbs":["get","list"],"apiGroups":[""],"resources":["secrets","configmaps"]})";

TEST_F(EscalationTest, roles_hold_what_their_writer_holds) {
  EXPECT_EQ(write("ann", "roles", role(kPods)), role(kPods));
  EXPECT_EQ(write("ann", "clusterroles", role(kPods)), role(kPods));
  EXPECT_EQ(
      write("ann", "roles", role(kPods + "," + kSecrets)),
      "roles.rbac.authorization.k8s.io \"x\" is forbidden: user \"ann\" (groups=[\"g1\" \"g2\"]) "
      "is attempting to grant RBAC permissions not currently held:\n"
      "{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"get\" \"list\"]}\n"
      "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}");
  EXPECT_TRUE(write("ann", "roles", role(kSecrets), role(kPods)).contains("is forbidden"));
  EXPECT_EQ(write("ann", "roles", role(kSecrets), "", {"system:masters"}), role(kSecrets));
  EXPECT_EQ(write("bob", "roles", role(kSecrets)), role(kSecrets)) << "may escalate";
}

TEST_F(EscalationTest, bindings_give_what_their_writer_holds) {
  EXPECT_EQ(write("ann", "rolebindings", binding("ClusterRole", "plain")),
            binding("ClusterRole", "plain"));
  EXPECT_EQ(write("ann", "clusterrolebindings", binding("ClusterRole", "secrets")),
            "clusterrolebindings.rbac.authorization.k8s.io \"x\" is forbidden: user \"ann\" "
            "(groups=[\"g1\" \"g2\"]) is attempting to grant RBAC permissions not currently held:\n"
            "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}");
  EXPECT_EQ(write("ann", "rolebindings", binding("Role", "gone")),
            "rolebindings.rbac.authorization.k8s.io \"gone\" not found");
  EXPECT_EQ(write("bob", "rolebindings", binding("Role", "gone")), binding("Role", "gone"))
      << "may bind what is not there yet";
}

TEST_F(EscalationTest, bind_may_be_given_for_one_role_in_one_namespace) {
  put(RbacKind::role,
      R"({"metadata":{"name":"binder","namespace":"team"},"rules":[{"verbs":["bind"],
          "apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],
          "resourceNames":["secrets"]}]})");
  put(RbacKind::role_binding, R"({"metadata":{"name":"b","namespace":"team"},)" + kRef +
                                  R"("Role","name":"binder"},
                                  "subjects":[{"kind":"User","name":"ann"}]})");
  EXPECT_EQ(write("ann", "rolebindings", binding("ClusterRole", "secrets")),
            binding("ClusterRole", "secrets"));
  EXPECT_TRUE(write("ann", "clusterrolebindings", binding("ClusterRole", "secrets"))
                  .contains("is forbidden"));
  EXPECT_TRUE(
      write("ann", "rolebindings", binding("ClusterRole", "writer")).contains("is forbidden"));
}

TEST_F(EscalationTest, gathering_needs_everything) {
  std::string gathers = R"(,"aggregationRule":{"clusterRoleSelectors":[{}]})";
  EXPECT_EQ(write("ann", "clusterroles", role("", gathers)),
            "clusterroles.rbac.authorization.k8s.io \"x\" is forbidden: must have cluster-admin "
            "privileges to use the aggregationRule");
  EXPECT_EQ(write("ann", "clusterroles", role(""), role("", gathers)),
            "clusterroles.rbac.authorization.k8s.io \"x\" is forbidden: must have cluster-admin "
            "privileges to use the aggregationRule");
}

TEST_F(EscalationTest, letting_go_of_an_object_grants_nothing) {
  std::string owned =
      R"({"metadata":{"name":"x","finalizers":["a"],"resourceVersion":"1"},"rules":[)" + kSecrets +
      "]}";
  EXPECT_EQ(write("ann", "roles", role(kSecrets), owned), role(kSecrets));
}

TEST_F(EscalationTest, other_kinds_are_not_its_business) {
  EXPECT_EQ(
      (AdmissionCall{.user = {.name = "eve"}, .plural = "roles", .object = role(kSecrets)}.run(
          rule_)),
      role(kSecrets));
}

}  // namespace
}  // namespace codeflare::apiserver
