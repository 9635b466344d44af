#include "cli/session/session.h"

#include "base/async/when.h"
#include "cli/gather/wrappers.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/verbs/delete.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/list.h"
#include "cli/verbs/queue.h"
#include "cli/verbs/status.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using std::chrono::seconds;
using testing::VerbWorld;

std::string config_map(const std::string& name) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n";
}

// A world of one AppWrapper, whose server can run out of room.
struct World : VerbWorld {
  World() {
    write("all.yaml", testing::app_wrapper_crd() +
                          "---\napiVersion: workload.codeflare.dev/v1beta1\nkind: AppWrapper\n"
                          "metadata: {name: train}\nspec:\n  resources: {GenericItems: []}\n");
    write("three.yaml", config_map("a") + config_map("b") + config_map("c"));
    EXPECT_EQ(create("all.yaml"), kDone) << console.err_text;
  }
  int create(const std::string& file, SessionFlags flags = {}) {
    return timed([&](Session& s) { return run_create(s, {.files = {file}}); }, flags);
  }
  int timed(const std::function<Task<int>(Session&)>& what, const SessionFlags& flags = {}) {
    const Instant began = sim.env().loop.now();
    const int code = verb(what, flags);
    took = sim.env().loop.now() - began;
    return code;
  }
  Duration took{};
};

constexpr std::string_view kAdvice =
    "; fix this and run the command again, or wait longer with --timeout SECONDS\n";

TEST(Session, a_server_that_asks_to_wait_is_given_a_minute_for_all_objects_together) {
  World world;
  world.full = true;
  EXPECT_EQ(world.create("three.yaml"), kFailed);
  EXPECT_GT(world.took, seconds(50));
  EXPECT_LE(world.took, seconds(61));
  const std::string& err = world.console.err_text;
  EXPECT_TRUE(
      err.starts_with("the server asks to retry later: the disk is full (POST "
                      "/api/v1/namespaces/default/configmaps); retrying for up to 5"))
      << err;
  EXPECT_TRUE(
      err.contains("\nerror: three.yaml: document 1, ConfigMap a: the disk is full (asked "))
      << err;
  EXPECT_TRUE(
      err.contains("\nerror: three.yaml: document 3, ConfigMap c: the disk is full (asked "))
      << err;
  EXPECT_TRUE(err.ends_with(kAdvice)) << err;
  // Told once, not once a second: standard error may be a file.
  EXPECT_EQ(err.find("trying for", err.find("trying for") + 1), std::string::npos) << err;
}

TEST(Session, a_timeout_is_how_long_it_is_given) {
  World world;
  world.full = true;
  EXPECT_EQ(world.create("three.yaml", {.timeout = seconds(5)}), kFailed);
  EXPECT_LE(world.took, seconds(6));
  EXPECT_EQ(world.create("three.yaml", {.timeout = seconds(300)}), kFailed);
  EXPECT_GT(world.took, seconds(250));
  EXPECT_LE(world.took, seconds(301));
}

TEST(Session, every_verb_that_writes_names_its_object_and_what_to_do) {
  World world;
  world.full = true;
  const auto fails = [&](const std::string& object,
                         const std::function<Task<int>(Session&)>& verb) {
    EXPECT_EQ(world.timed(verb, {.timeout = seconds(5)}), kFailed);
    EXPECT_LE(world.took, seconds(6)) << object;
    const std::string& err = world.console.err_text;
    EXPECT_TRUE(err.contains("the server asks to retry later: the disk is full (")) << err;
    EXPECT_TRUE(err.contains("error: " + object + ": the disk is full (asked ")) << err;
    EXPECT_TRUE(err.ends_with(kAdvice)) << err;
  };
  world.write("a.yaml", config_map("a"));
  fails("a.yaml: document 1, ConfigMap a",
        [](Session& s) { return run_delete(s, {.files = {"a.yaml"}}); });
  fails("appwrapper train",
        [](Session& s) { return run_delete(s, {.kind = "aw", .names = {"train"}}); });
  fails("appwrapper train",
        [](Session& s) { return run_hold(s, {.kind = "aw", .names = {"train"}}, true); });
  fails("ConfigMap codeflare-queue", [](Session& s) { return run_pause(s, {}, true); });
}

TEST(Session, on_a_terminal_the_line_counts_down_and_makes_room) {
  World world;
  world.full = true;
  world.console.terminal = true;
  EXPECT_EQ(world.create("three.yaml", {.timeout = seconds(5)}), kFailed);
  const std::string& err = world.console.err_text;
  EXPECT_TRUE(err.contains("trying for up to 2s more\x1b[K\rthe server asks")) << err;
  EXPECT_TRUE(err.contains("trying for up to 1s more\x1b[K\r")) << err;
  EXPECT_TRUE(err.contains("more\x1b[K\r\x1b[Kerror: ")) << err;
}

// The disk has room again after a moment.
Task<int> create_while_freed(Session& session, World& world, Duration after) {
  struct Freed {
    static Task<int> later(World& at, Duration when) {
      static_cast<void>(co_await sleep_for(when));
      at.full = false;
      co_return 0;
    }
  };
  std::vector<Task<int>> tasks;
  tasks.push_back(run_create(session, {.files = {"three.yaml"}}));
  tasks.push_back(Freed::later(world, after));
  co_return (co_await when_all(std::move(tasks)))[0];
}

TEST(Session, what_waited_is_done_when_the_server_can_and_a_short_wait_is_not_told) {
  World world;
  world.full = true;
  EXPECT_EQ(world.verb([&](Session& s) {
    return create_while_freed(s, world, std::chrono::milliseconds(500));
  }),
            kDone);
  EXPECT_EQ(world.refused, 3);
  EXPECT_EQ(world.console.err_text, "");
  EXPECT_EQ(world.console.out_text,
            "configmap/a created\nconfigmap/b created\nconfigmap/c created\n");
}

}  // namespace
}  // namespace codeflare::cli
