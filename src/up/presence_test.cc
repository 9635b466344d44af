#include "up/presence.h"

#include "kube/kubeconfig.h"
#include "up/context.h"
#include "up/testing/up_world.h"

#include <gtest/gtest.h>

namespace codeflare::up {
namespace {

constexpr const char* kConfig = "/home/me/.kube/config";

struct World : testing::UpWorld {
  UpPresence presence{env, {.directory = "/data"}};

  UpState announce(UpPresence& one) {
    auto said = *run(env.loop, one.announce(state()));
    EXPECT_TRUE(said) << said.error().message;
    return said ? *said : UpState();
  }
  UpState announce() { return announce(presence); }
  Result<void> withdraw() { return *run(env.loop, presence.withdraw()); }
  Result<void> check(UpPresence& one) { return *run(env.loop, one.check_free()); }
  kube::Kubeconfig config(const std::string& path = kConfig) {
    return kube::parse_kubeconfig(read(path), path).value();
  }
};

TEST(UpPresence, adds_a_context_makes_it_current_and_takes_it_out_again) {
  World world;
  world.write(kConfig, World::kubeconfig("work", "https://work", "V29yaw=="));
  const UpState state = world.announce();
  EXPECT_EQ(state.context,
            (AddedContext{.file = kConfig, .name = "codeflare-data", .previous = "work"}));
  kube::Kubeconfig config = world.config();
  EXPECT_EQ(config.current_context, "codeflare-data");
  EXPECT_EQ(config.cluster("codeflare-data")->server, "https://127.0.0.1:6443");
  EXPECT_EQ(config.context("codeflare-data")->user, "codeflare-data");
  EXPECT_EQ(world.env.files.info(kConfig)->mode, 0600u);
  ASSERT_TRUE(world.withdraw());
  config = world.config();
  EXPECT_EQ(config.current_context, "work");
  EXPECT_EQ(config.contexts.size(), 1u);
  EXPECT_EQ(config.clusters.size(), 1u);
  EXPECT_EQ(config.users.size(), 1u);
  EXPECT_FALSE(world.env.files.exists("/data/up.json"));
  EXPECT_TRUE(world.withdraw()) << "once is enough";
}

TEST(UpPresence, what_the_user_made_current_meanwhile_stays) {
  World world;
  world.write(kConfig, World::kubeconfig("work", "https://work", "V29yaw=="));
  world.announce();
  ASSERT_TRUE(*run(world.env.loop,
                   kube::edit_kubeconfig(world.env, kConfig, [](kube::KubeconfigEditor& editor) {
                     editor.set_context({.name = "third", .cluster = "work", .user = "work"});
                     editor.set_current_context("third");
                     return Result<void>();
                   })));
  ASSERT_TRUE(world.withdraw());
  EXPECT_EQ(world.config().current_context, "third");
}

TEST(UpPresence, an_earlier_context_that_is_gone_is_not_made_current) {
  World world;
  world.write(kConfig, World::kubeconfig("work", "https://work", "V29yaw=="));
  world.announce();
  ASSERT_TRUE(*run(world.env.loop,
                   kube::edit_kubeconfig(world.env, kConfig, [](kube::KubeconfigEditor& editor) {
                     editor.remove_context_and_parts("work");
                     return Result<void>();
                   })));
  ASSERT_TRUE(world.withdraw());
  EXPECT_EQ(world.config().current_context, "");
  EXPECT_TRUE(world.config().contexts.empty());
}

TEST(UpPresence, the_context_of_another_cluster_is_left_alone) {
  World world;
  world.announce();
  world.write(kConfig, World::kubeconfig("codeflare-data", "https://other", "T3RoZXI="));
  ASSERT_TRUE(world.withdraw());
  EXPECT_EQ(world.config().current_context, "codeflare-data");
}

TEST(UpPresence, a_run_after_a_killed_one_remembers_what_was_current_before) {
  World world;
  world.write(kConfig, World::kubeconfig("work", "https://work", "V29yaw=="));
  world.announce();
  world.put_process({78, 5000}, "self");  // 77 was killed
  UpPresence next{world.env, {.directory = "/data"}};
  ASSERT_TRUE(world.check(next));
  EXPECT_EQ(world.announce(next).context.previous, "work");
  ASSERT_TRUE(*run(world.env.loop, next.withdraw()));
  EXPECT_EQ(world.config().current_context, "work");
}

TEST(UpPresence, a_directory_has_one_cluster) {
  World world;
  ASSERT_TRUE(world.check(world.presence));
  world.announce();
  world.put_process({77, 4242});
  UpPresence second{world.env, {.directory = "/data"}};
  const Result<void> free = world.check(second);
  ASSERT_FALSE(free);
  EXPECT_TRUE(free.error().message.starts_with("codeflare up (process 77) runs in /data since "))
      << free.error().message;
}

TEST(UpPresence, leaves_the_kubeconfig_alone_on_request_and_when_it_is_our_own) {
  World world;
  UpPresence quiet{world.env, {.directory = "/data", .edit_kubeconfig = false}};
  EXPECT_EQ(world.announce(quiet).context, AddedContext());
  EXPECT_FALSE(world.env.files.exists(kConfig));
  EXPECT_TRUE(world.env.files.exists("/data/up.json"));
  world.sim.set_variable("KUBECONFIG", "/data/admin.kubeconfig");
  EXPECT_EQ(world.announce().context, AddedContext());
}

TEST(UpPresence, a_kubeconfig_that_cannot_be_read_is_a_warning) {
  World world;
  world.write(kConfig, "clusters: 7\n");
  const UpState said = world.announce();
  EXPECT_TRUE(said.warning.contains("/home/me/.kube/config")) << said.warning;
  EXPECT_EQ(said.context, AddedContext());
  EXPECT_EQ(world.read(kConfig), "clusters: 7\n");
}

TEST(UpContext, is_named_after_the_directory_unless_it_is_the_usual_one) {
  World world;
  const Variables& variables = world.env.variables;
  EXPECT_EQ(context_name(variables, "/home/me/.local/state/codeflare/up"), "codeflare");
  EXPECT_EQ(context_name(variables, "/tmp/demo/"), "codeflare-demo");
  EXPECT_EQ(context_name(variables, "/"), "codeflare");
}

}  // namespace
}  // namespace codeflare::up
