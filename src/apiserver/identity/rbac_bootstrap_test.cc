#include "apiserver/identity/rbac_bootstrap.h"

#include "apiserver/identity/rbac_sync.h"
#include "apiserver/identity/testing/put_object.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kClusterRoles = "clusterroles.rbac.authorization.k8s.io";
constexpr std::string_view kBindings = "clusterrolebindings.rbac.authorization.k8s.io";

class BootstrapTest : public testing::Test {
 protected:
  ~BootstrapTest() override {
    tasks_.request_stop();
    world_.wait(tasks_.close());
  }
  std::size_t reconcile() {
    auto count = world_.wait(reconcile_bootstrap_objects(world_.env(), world_.store()));
    EXPECT_TRUE(count.has_value());
    return count.value_or(0);
  }
  std::string text(std::string_view resource, std::string_view name) {
    ObjectPtr object = world_.store().get(world_.id(resource), "", name);
    return object == nullptr ? "(missing)" : std::string(object->json());
  }
  bool allowed(std::vector<std::string> groups, Access access) {
    return policy_.authorize({.name = "ann", .groups = std::move(groups)}, access).allowed;
  }

  StoreWorld world_;
  RbacPolicy policy_;
  TaskGroup tasks_{world_.sim.env().loop};
};

TEST_F(BootstrapTest, a_new_store_gets_everything_in_one_transaction) {
  std::size_t appends = world_.disk->appends();
  EXPECT_EQ(reconcile(), 31u + 2u * 37u + 12u + 7u + 7u);
  EXPECT_EQ(world_.disk->appends(), appends + 1);
  EXPECT_EQ(reconcile(), 0u);
  std::string admin = text(kClusterRoles, "cluster-admin");
  EXPECT_TRUE(admin.contains(R"("kubernetes.io/bootstrapping":"rbac-defaults")")) << admin;
  EXPECT_TRUE(admin.contains(R"("rbac.authorization.kubernetes.io/autoupdate":"true")"));
  EXPECT_TRUE(admin.contains(R"("rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]},)"
                             R"({"nonResourceURLs":["*"],"verbs":["*"]}])"));
  EXPECT_TRUE(admin.contains(R"("creationTimestamp":"2023-)"));
  std::string basic = text(kBindings, "system:basic-user");
  EXPECT_TRUE(
      basic.contains(R"("subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group",)"
                     R"("name":"system:authenticated"}])"))
      << basic;
  EXPECT_FALSE(text(kBindings, "system:node").contains("subjects"));
  EXPECT_TRUE(text(kBindings, "system:controller:job-controller")
                  .contains(R"({"kind":"ServiceAccount","name":"job-controller",)"
                            R"("namespace":"kube-system"})"));
}

TEST_F(BootstrapTest, what_was_taken_away_comes_back_and_what_was_added_stays) {
  reconcile();
  put_object(world_, kClusterRoles,
             R"({"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1",
                 "metadata":{"name":"system:basic-user","uid":"u"},
                 "rules":[{"verbs":["get"],"apiGroups":["x.io"],"resources":["things"]}]})");
  put_object(world_, kBindings,
             R"({"metadata":{"name":"system:discovery","uid":"u"},
                 "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
                            "name":"system:discovery"},
                 "subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"x"}]})");
  put_object(world_, kClusterRoles,
             R"({"metadata":{"name":"system:discovery","uid":"u","annotations":
                 {"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]})");
  remove_object(world_, kClusterRoles, "", "view");
  EXPECT_EQ(reconcile(), 3u);
  std::string basic = text(kClusterRoles, "system:basic-user");
  EXPECT_TRUE(basic.contains("x.io") && basic.contains("selfsubjectreviews")) << basic;
  EXPECT_TRUE(basic.contains("rbac-defaults"));
  std::string binding = text(kBindings, "system:discovery");
  EXPECT_TRUE(binding.contains(R"("name":"x")") && binding.contains("system:authenticated"));
  EXPECT_TRUE(text(kClusterRoles, "system:discovery").contains(R"("rules":[])"));
  EXPECT_NE(text(kClusterRoles, "view"), "(missing)");
  EXPECT_EQ(reconcile(), 0u);
}

TEST_F(BootstrapTest, the_policy_follows_the_store) {
  put_object(world_, kBindings,
             R"({"metadata":{"name":"early"},"roleRef":{"kind":"ClusterRole","name":"view"},
                 "subjects":[{"kind":"Group","name":"readers"}]})");
  RbacSync sync(world_.store(), policy_, world_.log.logger(world_.env().clock));
  const Access access{.verb = "get", .resource = "pods", .ns = "a"};
  EXPECT_FALSE(allowed({"readers"}, access));
  reconcile();
  EXPECT_TRUE(allowed({"readers"}, access));
  EXPECT_FALSE(allowed({"readers"}, {.verb = "get", .resource = "secrets", .ns = "a"}));
  EXPECT_TRUE(allowed({"system:unauthenticated"}, {.verb = "get", .path = "/readyz"}));
  EXPECT_FALSE(allowed({"system:unauthenticated"}, {.verb = "get", .path = "/readyz/ping"}));
  EXPECT_TRUE(allowed({"system:authenticated"}, {.verb = "get", .path = "/api/v1"}));
  EXPECT_TRUE(allowed(
      {"system:authenticated"},
      {.verb = "create", .group = "authorization.k8s.io", .resource = "selfsubjectaccessreviews"}));
  EXPECT_FALSE(allowed({"system:authenticated"}, access));
  remove_object(world_, kBindings, "", "early");
  EXPECT_FALSE(allowed({"readers"}, access));
  world_.close();
}

TEST_F(BootstrapTest, aggregated_rules_are_written_into_the_objects) {
  RbacSync sync(world_.store(), policy_, world_.log.logger(world_.env().clock));
  reconcile();
  ASSERT_TRUE(world_.wait(sync.write_aggregates()));
  EXPECT_TRUE(policy_.outdated_aggregates().empty());
  std::string view = text(kClusterRoles, "view");
  EXPECT_TRUE(view.contains("endpointslices")) << view;
  std::string admin = text(kClusterRoles, "admin");
  EXPECT_TRUE(admin.contains("endpointslices") && admin.contains("localsubjectaccessreviews"));
  EXPECT_EQ(reconcile(), 0u);

  tasks_.spawn(sync.run());
  world_.settle_loop();
  put_object(world_, kClusterRoles,
             R"({"metadata":{"name":"things","labels":
                 {"rbac.authorization.k8s.io/aggregate-to-view":"true"}},
                 "rules":[{"verbs":["get"],"apiGroups":["x.io"],"resources":["things"]}]})");
  world_.settle_loop();
  for (const char* name : {"view", "edit", "admin"}) {
    EXPECT_TRUE(text(kClusterRoles, name).contains("x.io")) << name;
  }
  remove_object(world_, kClusterRoles, "", "things");
  world_.settle_loop();
  EXPECT_FALSE(text(kClusterRoles, "admin").contains("x.io"));
  world_.wait(tasks_.close());
  world_.close();
}

}  // namespace
}  // namespace codeflare::apiserver
