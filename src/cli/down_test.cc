#include "cli/down.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/detach.h"
#include "cli/testing/up_world.h"
#include "cli/up_presence.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using std::chrono::seconds;

struct World : testing::UpWorld {
  testing::FakeProcesses processes{env.files};

  int down(Duration timeout = {}) {
    console.out_text.clear();
    console.err_text.clear();
    return *run(env.loop,
                run_down(env, console, processes, {.directory = "/data", .timeout = timeout}));
  }
  // A cluster runs as process 77.
  void up() {
    put_process({77, 4242});
    UpPresence presence(env, {.directory = "/data"});
    EXPECT_TRUE(*run(env.loop, presence.announce(state())));
  }
  static Task<int> later(UpWorld& world, Duration wait) {
    static_cast<void>(co_await sleep_for(wait));
    world.end_process(77);
    co_return 0;
  }
  static Task<int> both(World& world, DownFlags flags, Duration wait) {
    std::vector<Task<int>> tasks;
    tasks.push_back(run_down(world.env, world.console, world.processes, std::move(flags)));
    tasks.push_back(later(world, wait));
    co_return (co_await when_all(std::move(tasks)))[0];
  }
};

TEST(Down, asks_the_cluster_to_end_and_waits_until_it_has) {
  World world;
  world.console.terminal = true;
  world.up();
  EXPECT_EQ(*run(world.env.loop, World::both(world, {.directory = "/data"}, seconds(5))), kDone);
  EXPECT_EQ(world.processes.asked, (std::vector<ProcessId>{{77, 4242}}));
  EXPECT_TRUE(world.console.err_text.contains(
      "waiting until codeflare up (process 77) has ended its pods (4s)"))
      << world.console.err_text;
  EXPECT_EQ(world.console.out_text,
            "stopped; what was in /data is there again at the next start\n");
  // It was killed while it ended: what it left is gone all the same.
  EXPECT_FALSE(world.env.files.exists("/data/up.json"));
  EXPECT_FALSE(world.read("/home/me/.kube/config").contains("codeflare-data"));
}

TEST(Down, says_that_nothing_runs) {
  World world;
  EXPECT_EQ(world.down(), kFailed);
  EXPECT_EQ(world.console.err_text, "error: nothing runs in /data\n");
}

TEST(Down, takes_out_the_context_of_a_cluster_that_was_killed) {
  World world;
  world.up();
  world.end_process(77);
  EXPECT_EQ(world.down(), kFailed);
  EXPECT_TRUE(world.console.err_text.contains(
      "context codeflare-data was taken out of /home/me/.kube/config\n"))
      << world.console.err_text;
  EXPECT_TRUE(world.console.err_text.contains("codeflare up (process 77) was killed"))
      << world.console.err_text;
  EXPECT_TRUE(world.processes.asked.empty());
  EXPECT_EQ(world.down(), kFailed);
  EXPECT_EQ(world.console.err_text, "error: nothing runs in /data\n");
}

TEST(Down, gives_up_after_the_timeout) {
  World world;
  world.up();
  EXPECT_EQ(world.down(seconds(3)), kFailed);
  EXPECT_EQ(world.console.err_text,
            "error: codeflare up (process 77) still ends its pods after 3s\n");
  EXPECT_TRUE(world.env.files.exists("/data/up.json"));
}

// What the program in the background does, played by a script.
struct DetachWorld : testing::UpWorld {
  std::vector<std::string> started;
  std::function<void(DetachWorld&)> play = [](DetachWorld&) {};
  int exit_code = 0;

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
            "error: codeflare up: it ended before it was ready\n");
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
  EXPECT_EQ(world.console.err_text, "error: it could not be started: no room\n");
}

TEST(Detach, passes_on_what_was_typed) {
  const std::string typed("./codeflare\0up\0--detach\0--nodes\0003\0", 34);
  EXPECT_EQ(background_arguments(typed, "/log"),
            (std::vector<std::string>{"up", "--nodes", "3", "--background", "/log"}));
}

}  // namespace
}  // namespace codeflare::cli
