#include "cli/verbs/logs.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/testing/pod_logs.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/views/kinds.h"
#include "model/pod.h"
#include "model/resources.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using std::chrono::seconds;

struct Served {
  testing::PodLogs logs;
};

// A server with an AppWrapper `train`.
struct World : Served, testing::VerbWorld {
  World() : VerbWorld(&logs) {
    write("all.yaml", testing::app_wrapper_crd() +
                          "---\n"
                          "apiVersion: workload.codeflare.dev/v1beta1\n"
                          "kind: AppWrapper\n"
                          "metadata: {name: train}\n"
                          "spec:\n"
                          "  resources: {GenericItems: []}\n");
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"all.yaml"}}); }), kDone)
        << console.err_text;
  }

  static Task<void> add_pod(Session& s, std::string name, std::string statuses) {
    const auto wrapper = co_await s.client().get(app_wrapper_kind().type, {"default", "train"});
    const model::ResourceType pods = model::resource_type<model::Pod>();
    const auto made = co_await s.client().create(
        pods, "default",
        R"({"metadata":{"name":")" + name +
            R"(","labels":{"workload.codeflare.dev/appwrapper-uid":")" +
            std::string((*wrapper)->uid()) +
            R"("}},"spec":{"containers":[{"name":"c","image":"x","command":["x"]}]}})");
    EXPECT_TRUE(made) << made.error().message;
    const auto patched = co_await s.client().patch(
        pods, {"default", name}, kube::PatchKind::merge,
        R"({"status":{"phase":"Running","containerStatuses":)" + statuses + "}}",
        {.subresource = "status"});
    EXPECT_TRUE(patched) << patched.error().message;
  }
  static Task<void> set_state(Session& s, std::string state) {
    const auto patched = co_await s.client().patch(
        app_wrapper_kind().type, {"default", "train"}, kube::PatchKind::merge,
        R"({"status":{"state":")" + state + R"("}})", {.subresource = "status"});
    EXPECT_TRUE(patched) << patched.error().message;
  }
  static Task<int> pod_verb(Session& s, std::string name, std::string statuses) {
    co_await add_pod(s, std::move(name), std::move(statuses));
    co_return 0;
  }
  void pod(const std::string& name, const std::string& statuses) {
    verb([&](Session& s) { return pod_verb(s, name, statuses); });
  }
  int show(LogsFlags flags) {
    flags.kind = "aw";
    flags.name = flags.name.empty() ? "train" : flags.name;
    return verb([&](Session& s) { return run_logs(s, flags); });
  }
};

std::string running(const std::string& container, int restarts = 0) {
  return R"({"name":")" + container + R"(","image":"x","imageID":"","ready":true,"restartCount":)" +
         std::to_string(restarts) + R"(,"state":{"running":{}}})";
}

TEST(LinePrefix, waits_for_the_end_of_a_line) {
  LinePrefix lines("[a] ");
  EXPECT_EQ(lines.take("one\ntw"), "[a] one\n");
  EXPECT_EQ(lines.take("o"), "");
  EXPECT_EQ(lines.take("\n\nthree"), "[a] two\n[a] \n");
  EXPECT_EQ(lines.rest(), "[a] three\n");
  EXPECT_EQ(lines.rest(), "");
}

TEST(Logs, are_of_all_pods_with_their_names_before_each_line) {
  World world;
  world.logs.texts = {{"p-0/c", {"hello\n"}}, {"p-1/c", {"wo", "rld\n"}}};
  world.pod("p-1", "[" + running("c") + "]");
  world.pod("p-0", "[" + running("c") + "]");
  world.pod("p-2", "[]");
  EXPECT_EQ(world.show({.tail = 5}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "[p-0] hello\n[p-1] world\n");
  EXPECT_EQ(world.logs.asked, (std::vector<std::string>{"p-0/c tail", "p-1/c tail"}));
}

TEST(Logs, say_why_there_are_none) {
  World world;
  EXPECT_EQ(world.show({}), kDone);
  EXPECT_EQ(world.console.err_text,
            "appwrapper train has no pods; its state is Pending; run 'codeflare explain appwrapper "
            "train' for the reason\n");
  world.pod("p", "[]");
  EXPECT_EQ(world.show({}), kDone);
  EXPECT_EQ(world.console.err_text, "appwrapper train: 0 of 1 pods started yet\n");
  EXPECT_EQ(world.show({.name = "none"}), kNotFound);
  EXPECT_EQ(world.console.err_text,
            "error: appwrappers.workload.codeflare.dev \"none\" not found\n");
  EXPECT_EQ(world.verb([](Session& s) { return run_logs(s, {.kind = "pods", .name = "p"}); }),
            kUsage);
}

// Follows while the pods come, and ends with the AppWrapper.
struct Following {
  static Task<int> happen(Session& session, std::string end) {
    static_cast<void>(co_await sleep_for(seconds(2)));
    co_await World::add_pod(session, "p-0", "[" + running("c") + "]");
    static_cast<void>(co_await sleep_for(seconds(2)));
    co_await World::add_pod(session, "p-1", "[" + running("c", 1) + "]");
    static_cast<void>(co_await sleep_for(seconds(2)));
    co_await World::set_state(session, std::move(end));
    co_return 0;
  }
  static Task<int> run(Session& session, std::string end) {
    std::vector<Task<int>> tasks;
    tasks.push_back(run_logs(session, {.kind = "aw", .name = "train", .follow = true, .tail = 1}));
    tasks.push_back(happen(session, std::move(end)));
    co_return (co_await when_all(std::move(tasks)))[0];
  }
};

TEST(Logs, are_followed_until_the_appwrapper_has_ended) {
  World world;
  world.logs.texts = {{"p-0/c", {"one\n", "two\n"}}, {"p-1/c", {"again\n"}}};
  EXPECT_EQ(world.verb([](Session& s) { return Following::run(s, "Completed"); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "[p-0] one\n[p-0] two\n[p-1] again\n");
  EXPECT_EQ(world.console.err_text, "");
  // What came later is not cut.
  EXPECT_EQ(world.logs.asked, (std::vector<std::string>{"p-0/c -f", "p-1/c -f"}));
}

TEST(Logs, of_work_that_failed_end_with_another_code) {
  World world;
  EXPECT_EQ(world.verb([](Session& s) { return Following::run(s, "Failed"); }), kFailed);
  EXPECT_EQ(world.console.err_text, "appwrapper train is Failed\n");
}

}  // namespace
}  // namespace codeflare::cli
