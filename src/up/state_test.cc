#include "up/state.h"

#include "up/testing/up_world.h"

#include <gtest/gtest.h>

namespace codeflare::up {
namespace {

using testing::UpWorld;

TEST(UpState, is_read_as_it_was_written) {
  UpWorld world;
  UpState state = world.state();
  state.process = {77, 4242};
  state.log = "/data/up.log";
  state.context = {.file = "/home/me/.kube/config", .name = "codeflare", .previous = "work"};
  state.warning = "the kubeconfig stays as it is";
  const Result<UpState> again = parse_up_state(to_json(state));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, state);
}

TEST(UpState, what_is_no_state_is_refused_and_the_file_named) {
  UpWorld world;
  EXPECT_EQ(read_up_state(world.env.files, "/data").value(), std::nullopt);
  world.write("/data/up.json", "{}");
  const auto state = read_up_state(world.env.files, "/data");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().message, "/data/up.json: pid or kubeconfig is missing");
}

TEST(UpState, a_process_is_known_by_its_number_and_beginning) {
  UpWorld world;
  EXPECT_EQ(find_process(world.env.files, "self").value(), (ProcessId{77, 4242}));
  world.put_process({12, 100});
  EXPECT_TRUE(is_running(world.env.files, {12, 100}));
  EXPECT_FALSE(is_running(world.env.files, {12, 99}));  // the number is another's now
  EXPECT_FALSE(is_running(world.env.files, {13, 100}));
  world.put_process({12, 100}, "", 'Z');
  EXPECT_FALSE(is_running(world.env.files, {12, 100}));
}

TEST(UpState, the_directory_is_the_users_unless_one_is_given) {
  UpWorld world;
  EXPECT_EQ(up_directory(world.env.variables, "").value(), "/home/me/.local/state/codeflare/up");
  world.sim.set_variable("XDG_STATE_HOME", "/state");
  EXPECT_EQ(up_directory(world.env.variables, "").value(), "/state/codeflare/up");
  EXPECT_EQ(up_directory(world.env.variables, "here").value(), "here");
}

TEST(UpState, pods_see_neither_clusters_of_the_user_nor_the_keys_to_them) {
  UpWorld world;
  EXPECT_EQ(private_places(world.env.variables, {"/home/me/.kube/config", "/home/me/other"}),
            (std::vector<std::string>{"/home/me/.local/state/codeflare", "/home/me/.kube/config",
                                      "/home/me/.kube", "/home/me/other"}));
}

TEST(UpState, what_people_read_has_three_commands_to_try) {
  UpWorld world;
  UpState state = world.state();
  EXPECT_EQ(render_ready(state),
            "ready https://127.0.0.1:6443 in 180 ms\n"
            "kubeconfig /data/admin.kubeconfig\n"
            "node codeflare-0: pods are processes\n"
            "try:\n"
            "  export KUBECONFIG=/data/admin.kubeconfig\n"
            "  codeflare status --data-dir /data\n"
            "  codeflare create -f FILE   # AppWrappers, Jobs, RayClusters, anything\n"
            "  codeflare queue            # waiting and running work, with reasons\n");
  state.context = {.file = "/home/me/.kube/config", .name = "codeflare"};
  state.log = "/data/up.log";
  const std::string text = render_ready(state);
  EXPECT_TRUE(text.contains("context codeflare is current in /home/me/.kube/config\n")) << text;
  EXPECT_TRUE(text.contains("log /data/up.log\n")) << text;
  EXPECT_FALSE(text.contains("export")) << text;
  state.kubeconfig = "/home/me/.local/state/codeflare/up/admin.kubeconfig";
  EXPECT_TRUE(render_ready(state).contains("  codeflare status\n")) << render_ready(state);
}

}  // namespace
}  // namespace codeflare::up
