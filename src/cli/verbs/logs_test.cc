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
  // Later lines are not cut.
  EXPECT_EQ(world.logs.asked, (std::vector<std::string>{"p-0/c -f", "p-1/c -f"}));
}

TEST(Logs, of_work_that_failed_end_with_another_code) {
  World world;
  EXPECT_EQ(world.verb([](Session& s) { return Following::run(s, "Failed"); }), kFailed);
  EXPECT_EQ(world.console.err_text, "appwrapper train is Failed\n");
}

// The work was dispatched; its pod and the Event come, and much later its end.
struct Stuck {
  std::string pod{};    // the status of pod `p`; empty: there is none
  std::string event{};  // about the pod, or about the Job `train`
  std::string told{};   // within ten seconds

  static Task<void> dispatch(Session& s) {
    const auto patched = co_await s.client().patch(
        app_wrapper_kind().type, {"default", "train"}, kube::PatchKind::merge,
        R"({"spec":{"resources":{"GenericItems":[{"generictemplate":{"apiVersion":"batch/v1",)"
        R"("kind":"Job","metadata":{"name":"train"},"spec":{"template":{"spec":{"containers":)"
        R"([{"name":"c","image":"x"}],"restartPolicy":"Never"}}}}}]}}})");
    EXPECT_TRUE(patched) << patched.error().message;
    const auto planned = co_await s.client().patch(
        app_wrapper_kind().type, {"default", "train"}, kube::PatchKind::merge,
        R"({"status":{"state":"Running","canrun":true,)"
        R"("plan":{"places":[{"podSet":0,"node":"n","count":1}]}}})",
        {.subresource = "status"});
    EXPECT_TRUE(planned) << planned.error().message;
  }
  static Task<void> warn(Session& s, std::string about, std::string text) {
    const model::ResourceType events{
        .group = "", .version = "v1", .kind = "Event", .plural = "events"};
    const auto made = co_await s.client().create(
        events, "default",
        R"({"metadata":{"name":"e"},"type":"Warning","involvedObject":{"namespace":"default",)" +
            about + "}," + text + "}");
    EXPECT_TRUE(made) << made.error().message;
  }
  static Task<int> happen(Session& s, Stuck stuck, std::string& err) {
    if (!stuck.pod.empty()) {
      co_await World::add_pod(s, "p", "[]");
      const model::ResourceType pods = model::resource_type<model::Pod>();
      const auto pod =
          co_await s.client().patch(pods, {"default", "p"}, kube::PatchKind::merge,
                                    R"({"status":)" + stuck.pod + "}", {.subresource = "status"});
      EXPECT_TRUE(pod) << pod.error().message;
      if (pod && !stuck.event.empty()) {
        std::string about =
            R"("kind":"Pod","name":"p","uid":")" + std::string((*pod)->uid()) + R"(")";
        co_await warn(s, std::move(about), stuck.event);
      }
    } else {
      co_await warn(s, R"("kind":"Job","name":"train")", stuck.event);
    }
    static_cast<void>(co_await sleep_for(seconds(10)));
    EXPECT_EQ(err, stuck.told);
    static_cast<void>(co_await sleep_for(seconds(60)));
    co_await World::set_state(s, "Completed");
    co_return 0;
  }
  static Task<int> run(Session& s, Stuck stuck, std::string& err) {
    co_await dispatch(s);
    std::vector<Task<int>> tasks;
    tasks.push_back(run_logs(s, {.kind = "aw", .name = "train", .follow = true}));
    tasks.push_back(happen(s, std::move(stuck), err));
    co_return (co_await when_all(std::move(tasks)))[0];
  }
};

// Without a terminal there is not even a progress line.
TEST(Logs, that_are_followed_say_soon_and_once_why_no_pod_starts) {
  constexpr const char* kPending = R"({"phase":"Pending","containerStatuses":[]})";
  const Stuck cases[] = {
      {.pod = R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",)"
              R"("reason":"Unschedulable","message":"0/3 nodes are available"}]})",
       .told = "appwrapper train: pod p: Unschedulable: 0/3 nodes are available\n"},
      {.pod = kPending,
       .event = R"("reason":"FailedMount","message":"claim data is missing")",
       .told = "appwrapper train: pod p: FailedMount: claim data is missing\n"},
      {.event = R"("reason":"FailedCreate","message":"exceeded quota: small")",
       .told = "appwrapper train: Job train: FailedCreate: exceeded quota: small\n"},
  };
  for (const Stuck& each : cases) {
    World world;
    EXPECT_EQ(world.verb([&](Session& s) { return Stuck::run(s, each, world.console.err_text); }),
              kDone);
    EXPECT_EQ(world.console.err_text, each.told);
  }
}

TEST(Logs, that_are_followed_say_nothing_about_pods_that_run) {
  World world;
  const auto follow = [&](Session& s) -> Task<int> {
    co_return co_await Stuck::run(s, {.pod = R"({"phase":"Running"})"}, world.console.err_text);
  };
  EXPECT_EQ(world.verb(follow), kDone);
  EXPECT_EQ(world.console.err_text, "");
}

}  // namespace
}  // namespace codeflare::cli
