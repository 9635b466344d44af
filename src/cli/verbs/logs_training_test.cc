#include "cli/verbs/logs_training.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/testing/pod_logs.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "model/pod.h"
#include "model/resources.h"
#include "model/training_job.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using std::chrono::seconds;

struct Served {
  testing::PodLogs logs;
};

// A server with the TrainingJob `bert`.
struct World : Served, testing::VerbWorld {
  World() : VerbWorld(&logs) {
    write("all.yaml",
          testing::app_wrapper_crd("trainingjobs.breezeml.ai") +
              "---\napiVersion: breezeml.ai/v1\nkind: TrainingJob\nmetadata: {name: bert}\n"
              "spec:\n  minSize: 1\n  maxSize: 3\n  replicaSpecs: {template: {spec: "
              "{containers: [{name: trainingjob, image: i}]}}}\n");
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"all.yaml"}}); }), kDone)
        << console.err_text;
  }
  static Task<int> add_worker(Session& s, int index) {
    const model::ResourceType pods = model::resource_type<model::Pod>();
    const std::string name = "bert-worker-" + std::to_string(index);
    const auto made = co_await s.client().create(
        pods, "default",
        R"({"metadata":{"name":")" + name +
            R"(","labels":{"breezeml.ai/job":"bert","breezeml.ai/index":")" +
            std::to_string(index) +
            R"("}},"spec":{"containers":[{"name":"trainingjob","image":"x"}]}})");
    EXPECT_TRUE(made) << made.error().message;
    const auto patched = co_await s.client().patch(
        pods, {"default", name}, kube::PatchKind::merge,
        R"({"status":{"phase":"Running","containerStatuses":[{"name":"trainingjob","image":"x",)"
        R"("imageID":"","ready":true,"restartCount":0,"state":{"running":{}}}]}})",
        {.subresource = "status"});
    EXPECT_TRUE(patched) << patched.error().message;
    co_return 0;
  }
  static Task<int> end(Session& s, std::string condition) {
    const auto patched = co_await s.client().patch(
        model::resource_type<model::TrainingJob>(), {"default", "bert"}, kube::PatchKind::merge,
        R"({"status":{"stage":"Completed","conditions":[{"type":")" + condition +
            R"(","status":"True"}]}})",
        {.subresource = "status"});
    EXPECT_TRUE(patched) << patched.error().message;
    co_return 0;
  }
  void worker(int index) {
    verb([&](Session& s) { return add_worker(s, index); });
  }
  int show(LogsTrainingFlags flags) {
    flags.name = flags.name.empty() ? "bert" : flags.name;
    return verb([&](Session& s) { return run_logs_training(s, flags); });
  }
};

TEST(LogsTraining, are_of_all_workers_or_of_one) {
  World world;
  world.logs.texts = {{"bert-worker-0/trainingjob", {"zero\n"}},
                      {"bert-worker-1/trainingjob", {"o", "ne\n"}}};
  world.worker(0);
  world.worker(1);
  EXPECT_EQ(world.show({}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "[bert-worker-0] zero\n[bert-worker-1] one\n");
  EXPECT_EQ(world.show({.worker = 1, .tail = 4}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "[bert-worker-1] one\n");
  EXPECT_EQ(world.logs.asked.back(), "bert-worker-1/trainingjob tail");
}

TEST(LogsTraining, say_why_there_are_none) {
  World world;
  EXPECT_EQ(world.show({}), kDone);
  EXPECT_EQ(world.console.err_text,
            "trainingjob bert: no worker has started: Waiting, 0 of 1..3 pods\n");
  EXPECT_EQ(world.show({.worker = 2}), kDone);
  EXPECT_EQ(world.console.err_text,
            "trainingjob bert: worker 2 has not started: Waiting, 0 of 1..3 pods\n");
  EXPECT_EQ(world.show({.name = "nothing"}), kNotFound);
}

// The job grows while its logs are followed, and ends.
Task<int> grow_and_end(Session& session, std::string condition) {
  static_cast<void>(co_await sleep_for(seconds(2)));
  co_await World::add_worker(session, 0);
  static_cast<void>(co_await sleep_for(seconds(5)));
  co_await World::add_worker(session, 1);
  static_cast<void>(co_await sleep_for(seconds(5)));
  co_return co_await World::end(session, std::move(condition));
}

Task<int> follow(Session& session, std::string condition) {
  std::vector<Task<int>> tasks;
  tasks.push_back(run_logs_training(session, {.name = "bert", .follow = true}));
  tasks.push_back(grow_and_end(session, std::move(condition)));
  co_return (co_await when_all(std::move(tasks))).front();
}

TEST(LogsTraining, follow_new_workers_until_the_job_has_ended) {
  World world;
  world.logs.texts = {{"bert-worker-0/trainingjob", {"a\n", "b\n"}},
                      {"bert-worker-1/trainingjob", {"c\n"}}};
  EXPECT_EQ(world.verb([](Session& s) { return follow(s, "Succeeded"); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "[bert-worker-0] a\n[bert-worker-0] b\n[bert-worker-1] c\n");
  World failed;
  EXPECT_EQ(failed.verb([](Session& s) { return follow(s, "Failed"); }), kFailed);
  EXPECT_EQ(failed.console.err_text, "trainingjob bert: Failed, 0 of 1..3 pods\n");
}

}  // namespace
}  // namespace codeflare::cli
