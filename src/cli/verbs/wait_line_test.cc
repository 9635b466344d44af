#include "cli/verbs/internal/wait_line.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "cli/testing/captured_console.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

namespace codeflare::cli::internal {
namespace {

// Shows a wait; no request is sent.
struct World {
  explicit World(bool terminal, bool quiet = false)
      : session(Session::over(sim.env(), console, server, "default", {.quiet = quiet}).value()) {
    console.terminal = terminal;
  }
  void pass(Duration time) {
    const auto slept = run(sim.env().loop, sleep_for(time));
    ASSERT_TRUE(slept && *slept);
  }

  SimEnv sim;
  testing::CapturedConsole console;
  net::testing::ScriptedService server{[](net::Request) -> Task<Result<net::Response>> {
    co_return fail(unavailable("not asked"));
  }};
  std::unique_ptr<Session> session;
};

TEST(WaitLine, turns_and_counts_each_second_on_a_terminal) {
  World w(true);
  WaitLine line(*w.session);
  line.show("job/a: Pending");
  EXPECT_EQ(w.console.err_text, "\r| 0s job/a: Pending\x1b[K");
  w.console.err_text.clear();
  w.pass(std::chrono::milliseconds(2500));
  EXPECT_EQ(w.console.err_text,
            "\r/ 1s job/a: Pending\x1b[K"
            "\r- 2s job/a: Pending\x1b[K");
  w.console.err_text.clear();
  line.clear();
  w.pass(std::chrono::seconds(5));
  EXPECT_EQ(w.console.err_text, "\r\x1b[K");
}

TEST(WaitLine, stops_when_the_wait_ends) {
  World w(true);
  {
    WaitLine line(*w.session);
    line.show("job/a: Pending");
  }
  w.console.err_text.clear();
  w.pass(std::chrono::seconds(5));
  EXPECT_EQ(w.console.err_text, "");
}

TEST(WaitLine, and_notes_are_left_out_when_quiet) {
  for (const bool terminal : {false, true}) {
    World w(terminal, true);
    WaitLine line(*w.session);
    line.show("job/a: Pending");
    w.pass(std::chrono::seconds(5));
    w.session->console().err("note: something\n");
    EXPECT_EQ(w.console.err_text, "");
    w.session->console().err("error: something\n");
    EXPECT_EQ(w.console.err_text, "error: something\n");
    w.session->console().out("job/a\n");
    EXPECT_EQ(w.console.out_text, "job/a\n");
  }
}

TEST(WaitLine, writes_changes_alone_elsewhere) {
  World w(false);
  WaitLine line(*w.session);
  line.show("job/a: Pending");
  w.pass(std::chrono::seconds(5));
  line.show("job/a: Running");
  EXPECT_TRUE(w.console.err_text.contains(" job/a: Pending (0s)\n")) << w.console.err_text;
  EXPECT_TRUE(w.console.err_text.ends_with(" job/a: Running (5s)\n")) << w.console.err_text;
}

}  // namespace
}  // namespace codeflare::cli::internal
