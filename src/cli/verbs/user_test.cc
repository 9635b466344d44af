#include "cli/verbs/user.h"

#include "cli/testing/verb_world.h"
#include "cli/verbs/crds.h"
#include "cli/verbs/list.h"
#include "cli/verbs/queue.h"
#include "kube/kubeconfig.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::cli {
namespace {

using testing::VerbWorld;

struct World : VerbWorld {
  int add(const std::string& name, const std::string& ns, const std::string& role = "user") {
    UserFlags flags{.name = name, .role = role, .file = "/home/me/" + name};
    flags.server.server = "https://127.0.0.1:6443";
    flags.server.tls.ca_pem = "ca";
    return verb([&](Session& s) { return run_user_add(s, flags); }, {.ns = ns});
  }
  int list() {
    return verb([](Session& s) { return run_user_list(s, {}); });
  }
};

TEST(UserVerb, add_writes_a_kubeconfig_that_only_its_owner_reads) {
  World world;
  ASSERT_EQ(world.add("ann", "team-a"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.starts_with("namespace team-a created\n"))
      << world.console.out_text;
  EXPECT_TRUE(
      world.console.out_text.contains("user ann has role user in namespace team-a\n"
                                      "kubeconfig written to /home/me/ann;"))
      << world.console.out_text;
  const Env env = world.sim.env();
  EXPECT_EQ(env.files.info("/home/me/ann")->mode & 0777u, 0600u);
  const Result<kube::Kubeconfig> config = kube::load_kubeconfig(env.files, {"/home/me/ann"}, true);
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->current_context, "ann@team-a");
  EXPECT_EQ(config->context("ann@team-a")->ns, "team-a");
  EXPECT_EQ(config->clusters.front().server, "https://127.0.0.1:6443");
  EXPECT_FALSE(config->user("ann")->client_certificate_data.empty());
}

TEST(UserVerb, add_makes_the_roles_that_a_cluster_without_the_chart_lacks) {
  World world;
  ASSERT_EQ(world.add("ann", "team-a"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("clusterrole codeflare-viewer created\n"))
      << world.console.out_text;
  ASSERT_EQ(world.add("bob", "team-a"), kDone) << world.console.err_text;
  EXPECT_FALSE(world.console.out_text.contains("clusterrole")) << world.console.out_text;
}

TEST(UserVerb, list_shows_users_and_remove_takes_their_roles_away) {
  World world;
  ASSERT_EQ(world.add("ann", "team-a"), kDone) << world.console.err_text;
  ASSERT_EQ(world.add("ann", "team-b", "viewer"), kDone) << world.console.err_text;
  ASSERT_EQ(world.add("bob", "team-b", "admin"), kDone) << world.console.err_text;
  ASSERT_EQ(world.list(), kDone);
  EXPECT_EQ(world.console.out_text,
            "USER   NAMESPACE   ROLE     AGE\n"
            "ann    team-a      user     0s\n"
            "ann    team-b      viewer   0s\n"
            "bob    team-b      admin    0s\n");
  const auto remove = [&](const std::string& name, const std::string& ns) {
    return world.verb([&](Session& s) { return run_user_remove(s, {.name = name}); }, {.ns = ns});
  };
  EXPECT_EQ(remove("ann", ""), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.starts_with("user ann has no role any more in team-a, team-b"))
      << world.console.out_text;
  EXPECT_EQ(remove("ann", ""), kNotFound);
  EXPECT_EQ(remove("bob", "team-a"), kNotFound);
  ASSERT_EQ(world.list(), kDone);
  EXPECT_EQ(world.console.out_text,
            "USER   NAMESPACE   ROLE    AGE\n"
            "bob    team-b      admin   0s\n");
}

TEST(UserVerb, a_second_role_replaces_the_first) {
  World world;
  ASSERT_EQ(world.add("ann", "team-a", "admin"), kDone) << world.console.err_text;
  ASSERT_EQ(world.add("ann", "team-a", "viewer"), kDone) << world.console.err_text;
  ASSERT_EQ(world.list(), kDone);
  EXPECT_TRUE(world.console.out_text.contains("ann    team-a      viewer"))
      << world.console.out_text;
  EXPECT_FALSE(world.console.out_text.contains("admin")) << world.console.out_text;
  const int code = world.verb([](Session& s) -> Task<int> {
    const model::ResourceType bindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                       "rolebindings", true};
    const Result<kube::ObjectList> all = co_await s.client().list_all(bindings, {.ns = "team-a"});
    co_return all ? static_cast<int>(all->items.size()) : -1;
  });
  EXPECT_EQ(code, 2) << "view and codeflare-viewer";
}

TEST(UserVerb, a_user_sees_work_of_the_own_namespace_without_rights_in_others) {
  World world;
  world.verb([](Session& s) { return run_crds_apply(s, {}); });
  ASSERT_EQ(world.add("ann", "team-a"), kDone) << world.console.err_text;
  const auto queue = [](Session& s) { return run_queue(s, {}); };
  const auto list = [](Session& s) { return run_list(s, {}); };
  const auto list_all = [](Session& s) { return run_list(s, {.all_namespaces = true}); };
  EXPECT_EQ(world.verb(queue, {.ns = "team-a"}, "ann"), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.err_text,
            "note: you can list AppWrappers of namespace team-a only; positions leave out other "
            "namespaces\n");
  EXPECT_EQ(world.verb(list, {.ns = "team-a"}, "ann"), kDone) << world.console.err_text;
  EXPECT_EQ(world.verb(list_all, {.ns = "team-a"}, "ann"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.err_text.contains("of namespace team-a only; use -n"))
      << world.console.err_text;
  for (const auto& verb : {+queue, +list}) {
    EXPECT_EQ(world.verb(verb, {}, "ann"), kNotAllowed);
    EXPECT_TRUE(
        world.console.err_text.contains("; use -n with a namespace in which you have a role"))
        << world.console.err_text;
  }
}

TEST(UserVerb, names_of_the_system_are_rejected) {
  World world;
  EXPECT_EQ(world.add("system:admin", "team-a"), kUsage);
  EXPECT_EQ(world.add("a/b", "team-a"), kUsage);
}

}  // namespace
}  // namespace codeflare::cli
