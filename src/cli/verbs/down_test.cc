#include "cli/verbs/down.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/testing/up_world.h"
#include "cli/verbs/detach.h"
#include "up/presence.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace codeflare::cli {
namespace {

using std::chrono::seconds;
using up::ProcessId;
using up::UpState;

struct World : testing::UpWorld {
  testing::FakeProcesses processes{env.files};
  Result<std::size_t> left = std::size_t{0};  // pods of a cluster that was killed
  Duration ending{};                          // how long they take
  std::vector<std::string> looked_in{};
  up::EndLeft end_left = [this](std::string directory) {
    looked_in.push_back(std::move(directory));
    return end_them(*this);
  };

  static Task<Result<std::size_t>> end_them(World& world) {
    CO_TRY(co_await sleep_for(world.ending));
    co_return std::exchange(world.left, std::size_t{0});
  }
  int down(Duration timeout = {}) {
    console.out_text.clear();
    console.err_text.clear();
    return *run(env.loop, run_down(env, console, processes, end_left,
                                   {.directory = "/data", .timeout = timeout}));
  }
  // A cluster runs as process 77.
  void up() {
    put_process({77, 4242});
    up::UpPresence presence(env, {.directory = "/data"});
    EXPECT_TRUE(*run(env.loop, presence.announce(state())));
  }
  enum class Ends : std::uint8_t { in_good_order, killed };
  static Task<int> later(World& world, Ends how) {
    static_cast<void>(co_await sleep_for(seconds(5)));
    if (how == Ends::in_good_order) {
      const auto state = up::read_up_state(world.env.files, "/data");
      EXPECT_TRUE(co_await up::forget_up(world.env, "/data", **state));
    }
    world.end_process(77);
    co_return 0;
  }
  static Task<int> both(World& world, Ends how) {
    std::vector<Task<int>> tasks;
    tasks.push_back(run_down(world.env, world.console, world.processes, world.end_left,
                             {.directory = "/data"}));
    tasks.push_back(later(world, how));
    co_return (co_await when_all(std::move(tasks)))[0];
  }
  // The cluster ends five seconds after it was asked to.
  int down_and_end(Ends how) { return *run(env.loop, both(*this, how)); }
};

TEST(Down, asks_the_cluster_to_end_and_waits_until_it_has) {
  World world;
  world.console.terminal = true;
  world.up();
  EXPECT_EQ(world.down_and_end(World::Ends::in_good_order), kDone);
  EXPECT_EQ(world.processes.asked, (std::vector<ProcessId>{{77, 4242}}));
  EXPECT_TRUE(world.console.err_text.contains(
      "waiting until codeflare up (process 77) has stopped its pods (4s)"))
      << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "stopped (data is kept in /data)\n");
  EXPECT_TRUE(world.looked_in.empty());
}

TEST(Down, does_the_rest_for_a_cluster_that_is_killed_while_it_ends) {
  World world;
  world.left = std::size_t{1};
  world.up();
  EXPECT_EQ(world.down_and_end(World::Ends::killed), kDone);
  EXPECT_EQ(world.console.out_text,
            "codeflare up (process 77) was killed; its pod was stopped (data is kept in /data)\n");
  EXPECT_FALSE(world.env.files.exists("/data/up.json"));
  EXPECT_FALSE(world.read("/home/me/.kube/config").contains("codeflare-data"));
}

TEST(Down, says_that_nothing_runs) {
  World world;
  EXPECT_EQ(world.down(), kFailed);
  EXPECT_EQ(world.console.err_text, "error: no cluster runs in /data\n");
}

TEST(Down, ends_what_a_killed_cluster_has_left_and_takes_out_its_context) {
  World world;
  world.left = std::size_t{2};
  world.up();
  EXPECT_TRUE(world.read("/home/me/.kube/config").contains("codeflare-data"));
  world.end_process(77);
  EXPECT_EQ(world.down(), kDone) << world.console.err_text;
  EXPECT_EQ(world.looked_in, (std::vector<std::string>{"/data"}));
  EXPECT_EQ(
      world.console.out_text,
      "codeflare up (process 77) was killed; its 2 pods were stopped (data is kept in /data)\n");
  EXPECT_TRUE(world.console.err_text.empty()) << world.console.err_text;
  EXPECT_FALSE(world.read("/home/me/.kube/config").contains("codeflare-data"));
  EXPECT_TRUE(world.processes.asked.empty());
  EXPECT_EQ(world.down(), kFailed);
  EXPECT_EQ(world.console.err_text, "error: no cluster runs in /data\n");
}

TEST(Down, says_that_a_killed_cluster_has_left_no_pods) {
  World world;
  world.up();
  world.end_process(77);
  EXPECT_EQ(world.down(), kDone);
  EXPECT_TRUE(world.console.out_text.starts_with(
      "codeflare up (process 77) was killed; no pods were left (data"))
      << world.console.out_text;
}

TEST(Down, ends_pods_also_when_nothing_else_is_known_of_their_cluster) {
  World world;
  world.left = std::size_t{3};
  EXPECT_EQ(world.down(), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.starts_with("stopped the pods of an earlier start (data"))
      << world.console.out_text;
}

TEST(Down, can_be_tried_again_when_pods_that_were_left_did_not_end) {
  World world;
  world.left = fail(unavailable("pods did not end: default/a"));
  world.up();
  world.end_process(77);
  EXPECT_EQ(world.down(), kFailed);
  EXPECT_EQ(world.console.err_text, "error: pods did not end: default/a\n");
  EXPECT_TRUE(world.env.files.exists("/data/up.json"));
  world.ending = seconds(30);
  EXPECT_EQ(world.down(seconds(3)), kTimeUp);
  EXPECT_TRUE(world.console.err_text.contains("stopping the pods of an earlier start"))
      << world.console.err_text;
  EXPECT_EQ(world.down(), kDone);
}

TEST(Down, gives_up_after_the_timeout) {
  World world;
  world.up();
  EXPECT_EQ(world.down(seconds(3)), kTimeUp);
  EXPECT_EQ(world.console.err_text,
            "error: codeflare up (process 77) is still stopping pods after 3s\n");
  EXPECT_TRUE(world.env.files.exists("/data/up.json"));
}

// The program in the background, played by a script.
struct DetachWorld : testing::UpWorld {
  std::vector<std::string> started;
  std::function<void(DetachWorld&)> play = [](DetachWorld&) {};
  int exit_code = 0;
  std::string warning;

  DetachWorld() {
    sim.set_program("/proc/self/exe", [this](Command command) { return begin(*this, command); });
  }
  static Task<Result<CommandResult>> begin(DetachWorld& world, Command command) {
    world.started = command.arguments;
    world.put_process({90, 7});
    world.play(world);
    co_return CommandResult{.exit_code = world.exit_code,
                            .output = "90\n",
                            .error_output = world.exit_code == 0 ? "" : "no room"};
  }
  void become_ready() {
    UpState ready = state();
    ready.process = {90, 7};
    ready.log = "/data/up.log";
    ready.warning = warning;
    write("/data/up.json", to_json(ready));
  }
  int detach() {
    return *run(env.loop, run_detached(env, console,
                                       {.directory = "/data",
                                        .log = "/data/up.log",
                                        .arguments = {"up", "--background", "/data/up.log"}}));
  }
};

TEST(Detach, starts_this_program_again_and_waits_until_it_is_ready) {
  DetachWorld world;
  world.play = [](DetachWorld& w) { w.become_ready(); };
  EXPECT_EQ(world.detach(), kDone) << world.console.err_text;
  EXPECT_EQ(world.started, (std::vector<std::string>{"up", "--background", "/data/up.log"}));
  EXPECT_TRUE(world.console.out_text.starts_with("ready https://127.0.0.1:6443 in 180 ms\n"));
  EXPECT_TRUE(world.console.out_text.contains("log /data/up.log\n")) << world.console.out_text;
}

TEST(Detach, passes_on_what_did_not_come_about) {
  DetachWorld world;
  world.warning = "the kubeconfig is unchanged: no";
  world.play = [](DetachWorld& w) { w.become_ready(); };
  EXPECT_EQ(world.detach(), kDone);
  EXPECT_EQ(world.console.err_text, "warning: the kubeconfig is unchanged: no\n");
  EXPECT_TRUE(world.console.out_text.starts_with("ready ")) << world.console.out_text;
}

TEST(Detach, shows_what_a_cluster_that_did_not_start_has_written_now) {
  DetachWorld world;
  world.write("/data/up.log", "of yesterday\n");
  world.play = [](DetachWorld& w) {
    EXPECT_TRUE(w.env.files.append("/data/up.log", "codeflare: address in use\n"));
    w.end_process(90);
  };
  EXPECT_EQ(world.detach(), kFailed);
  EXPECT_EQ(world.console.err_text,
            "codeflare: address in use\n"
            "error: codeflare up: codeflare up ended before it was ready\n");
}

TEST(Detach, is_not_ready_because_another_was) {
  DetachWorld world;
  world.become_ready();
  world.put_process({90, 7});
  EXPECT_EQ(world.detach(), kFailed);
  EXPECT_TRUE(world.console.err_text.contains("(process 90) runs in /data since "))
      << world.console.err_text;
  EXPECT_TRUE(world.started.empty());
}

TEST(Detach, says_why_nothing_could_be_started) {
  DetachWorld world;
  world.exit_code = 1;
  EXPECT_EQ(world.detach(), kFailed);
  EXPECT_EQ(world.console.err_text, "error: start failed: no room\n");
}

TEST(Detach, passes_on_what_was_typed) {
  const std::string typed("./codeflare\0up\0--detach\0--nodes\0003\0", 34);
  EXPECT_EQ(up::background_arguments(typed, "/log"),
            (std::vector<std::string>{"up", "--nodes", "3", "--background", "/log"}));
}

}  // namespace
}  // namespace codeflare::cli
