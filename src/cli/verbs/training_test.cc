#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/verbs/end_training.h"
#include "cli/verbs/explain_training.h"
#include "cli/verbs/follow_training.h"
#include "cli/verbs/priority_training.h"
#include "cli/verbs/scale_training.h"
#include "cli/verbs/show_training.h"
#include "cli/verbs/verb_table.h"
#include "json/parse.h"
#include "model/codec/training_job.h"
#include "model/resources.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using std::chrono::seconds;

const model::ResourceType kJobs = model::resource_type<model::TrainingJob>();

std::string job_yaml(const std::string& name, const std::string& sizes) {
  return "---\napiVersion: breezeml.ai/v1\nkind: TrainingJob\nmetadata: {name: " + name +
         "}\nspec:\n  priority: 7\n" + sizes +
         "  replicaSpecs: {template: {spec: {containers: [{name: trainingjob, image: i, "
         "resources: {requests: {cpu: 1}}}]}}}\n";
}

// Waits, then writes a status or deletes the job.
struct Later {
  Duration after{};
  std::string status{};  // empty: the job is deleted
};

Task<int> do_later(Session& session, Later later) {
  static_cast<void>(co_await sleep_for(later.after));
  const model::ObjectKey key{"default", "bert"};
  const Result<kube::ObjectRef> done =
      later.status.empty() ? co_await session.client().remove(kJobs, key, {})
                           : co_await session.client().patch(kJobs, key, kube::PatchKind::merge,
                                                             R"({"status":)" + later.status + "}",
                                                             {.subresource = "status"});
  EXPECT_TRUE(done.has_value()) << done.error().message;
  co_return 0;
}

Task<int> wait_and(Session& session, WaitTrainingFlags flags, Later later) {
  std::vector<Task<int>> tasks;
  tasks.push_back(run_wait_training(session, std::move(flags)));
  tasks.push_back(do_later(session, std::move(later)));
  const std::vector<int> codes = co_await when_all(std::move(tasks));
  co_return codes.front();
}

// A server with the TrainingJob `bert` of 1 to 3 pods.
struct World : testing::VerbWorld {
  World() {
    write("all.yaml", testing::app_wrapper_crd("trainingjobs.breezeml.ai") +
                          job_yaml("bert", "  minSize: 1\n  maxSize: 3\n"));
    EXPECT_EQ(create("all.yaml"), kDone) << console.err_text;
  }
  int create(const std::string& file) {
    return verb([&](Session& s) { return run_create(s, {.files = {file}}); });
  }
  int list(ShowTrainingFlags flags = {}, const SessionFlags& how = {}) {
    return verb([&](Session& s) { return run_list_training(s, flags); }, how);
  }
  int status(const std::string& name = "bert", const SessionFlags& how = {}) {
    return verb([&](Session& s) { return run_status_training(s, {.name = name}); }, how);
  }
  int scale(ScaleTrainingFlags flags, const SessionFlags& how = {}) {
    flags.name = flags.name.empty() ? "bert" : flags.name;
    return verb([&](Session& s) { return run_scale_training(s, flags); }, how);
  }
  template <typename Flags>
  int named(Task<int> (*run)(Session&, Flags), std::vector<std::string> names) {
    return verb([&](Session& s) { return run(s, Flags{names}); });
  }
  int wait(WaitTrainingFlags flags, const Later& later) {
    flags.name = "bert";
    return verb([&](Session& s) { return wait_and(s, flags, later); });
  }
  void set_status(const std::string& text) {
    verb([&](Session& s) { return do_later(s, {.status = text}); });
  }
  // The spec as the server has it now.
  model::TrainingJobSpec spec() {
    EXPECT_EQ(status("bert", {.output = "json"}), kDone) << console.err_text;
    const Result<json::Document> document = json::parse(console.out_text);
    const Result<model::TrainingJob> job =
        document ? model::from_json<model::TrainingJob>(document->root) : fail(document.error());
    EXPECT_TRUE(job.has_value()) << console.out_text;
    return job ? job->spec : model::TrainingJobSpec();
  }
};

constexpr const char* kRunning =
    R"({"stage":"Running","currentSize":2,"readySize":2,"message":"2 of 2 pods ready",)"
    R"("plan":{"generation":5,"places":[{"index":0,"node":"a"},{"index":1,"node":"b"}],)"
    R"("leaving":[2]}})";
constexpr const char* kFailedJob =
    R"({"stage":"Completed","reason":"BackoffLimitExceeded","message":"7 failures",)"
    R"("conditions":[{"type":"Failed","status":"True"}]})";
constexpr const char* kSucceeded = R"({"stage":"Completed","message":"all 2 workers succeeded",)"
                                   R"("conditions":[{"type":"Succeeded","status":"True"}]})";

TEST(ListTraining, shows_state_size_and_bounds) {
  World world;
  world.write("more.yaml",
              job_yaml("fixed", "  minSize: 4\n") + job_yaml("listed", "  sizes: [1, 2, 8]\n"));
  ASSERT_EQ(world.create("more.yaml"), kDone) << world.console.err_text;
  world.set_status(kRunning);
  EXPECT_EQ(world.list(), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text,
            "NAME     STATE     SIZE   MIN   MAX   PRIORITY   AGE   REASON\n"
            "bert     Running   2      1     3     7          0s    -\n"
            "fixed    Waiting   0      4     4     7          0s    -\n"
            "listed   Waiting   0      1     8     7          0s    -\n");
  EXPECT_EQ(world.list({.all_namespaces = true}), kDone);
  EXPECT_TRUE(world.console.out_text.starts_with("NAMESPACE   NAME")) << world.console.out_text;
  EXPECT_EQ(world.list({}, {.output = "name"}), kDone);
  EXPECT_EQ(world.console.out_text,
            "trainingjob.breezeml.ai/bert\ntrainingjob.breezeml.ai/fixed\n"
            "trainingjob.breezeml.ai/listed\n");
  EXPECT_EQ(world.list({}, {.output = "json"}), kDone);
  const Result<json::Document> document = json::parse(world.console.out_text);
  ASSERT_TRUE(document.has_value()) << world.console.out_text;
  EXPECT_EQ(document->root.find("items")->size(), 3u);
  EXPECT_EQ(world.list({}, {.ns = "other"}), kDone);
  EXPECT_EQ(world.console.err_text, "no trainingjobs found in namespace other\n");
}

TEST(ListTraining, a_server_without_the_kind_is_named) {
  testing::VerbWorld world;
  EXPECT_EQ(world.verb([](Session& s) { return run_list_training(s, {}); }), kNotFound);
  EXPECT_TRUE(world.console.err_text.contains("has no trainingjobs.breezeml.ai"))
      << world.console.err_text;
}

TEST(StatusTraining, shows_size_plan_and_usage) {
  World world;
  world.set_status(kRunning);
  world.set_status(R"({"usage":{"totals":[{"queue":"q","resource":"cpu","unitSeconds":12}]}})");
  ASSERT_EQ(world.scale({.size = 2}), kDone) << world.console.err_text;
  EXPECT_EQ(world.status(), kDone) << world.console.err_text;
  const std::string& out = world.console.out_text;
  EXPECT_TRUE(
      out.starts_with("TrainingJob: default/bert\n"
                      "Stage:       Running\n"
                      "Size:        2 of 1..3 pods, at most 2 by desiredSize 2\n"
                      "Ready:       2\n"
                      "Plan:        generation 5, 2 pods, 1 leaving\n"
                      "Priority:    7\n"
                      "Message:     2 of 2 pods ready\n"))
      << out;
  EXPECT_TRUE(out.contains("Usage:       cpu 12 unit-seconds\n")) << out;
  EXPECT_EQ(world.status("nothing"), kNotFound);
}

TEST(StatusTraining, shows_since_when_a_job_is_unsaved) {
  World world;
  world.set_status(
      R"({"conditions":[{"type":"Unsaved","status":"True","message":"worker 0: service: full",)"
      R"("lastTransitionTime":"2026-03-01T12:00:05Z"}]})");
  EXPECT_EQ(world.status(), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains(
      "Unsaved:     since 2026-03-01T12:00:05Z: worker 0: service: full\n"))
      << world.console.out_text;
  world.set_status(R"({"progress":{"step":30,"savedStep":20,"remainingSamples":4096},)"
                   R"("conditions":[{"type":"Unsaved","status":"False"}]})");
  EXPECT_EQ(world.status(), kDone);
  EXPECT_FALSE(world.console.out_text.contains("Unsaved")) << world.console.out_text;
  EXPECT_TRUE(world.console.out_text.contains(
      "Progress:    step 30, saved at step 20, 4096 samples left\n"))
      << world.console.out_text;
}

TEST(StatusTraining, an_ended_job_shows_how_it_ended) {
  World world;
  world.set_status(kFailedJob);
  EXPECT_EQ(world.status(), kDone);
  EXPECT_TRUE(world.console.out_text.contains("Stage:       Failed\n")) << world.console.out_text;
  world.set_status(R"({"conditions":[{"type":"Succeeded","status":"True"}]})");
  EXPECT_EQ(world.status(), kDone);
  EXPECT_TRUE(world.console.out_text.contains("Stage:       Succeeded\n"));
}

TEST(DeleteTraining, deletes_each_name_and_reports_missing_ones) {
  World world;
  EXPECT_EQ(world.named(run_delete_training, {"nothing", "bert"}), kNotFound);
  EXPECT_EQ(world.console.out_text, "trainingjob/bert deleted\n");
  EXPECT_EQ(world.console.err_text, "error: trainingjobs.breezeml.ai \"nothing\" not found\n");
  EXPECT_EQ(world.status(), kNotFound);
}

TEST(WaitTraining, running_means_that_min_pods_are_ready) {
  World world;
  world.set_status(R"({"stage":"Running","currentSize":2,"readySize":0})");
  EXPECT_EQ(world.wait({.goal = "running", .timeout = seconds(3)}, {seconds(9), kRunning}),
            kTimeUp);
  world.set_status(R"({"stage":"Running","currentSize":2,"readySize":0})");
  EXPECT_EQ(world.wait({.goal = "running"}, {seconds(9), kRunning}), kDone);
  EXPECT_EQ(world.console.out_text,
            "trainingjob/bert Running, 2 of 1..3 pods: 2 of 2 pods ready\n");
}

TEST(WaitTraining, the_exit_code_tells_how_the_job_ended) {
  World failed;
  EXPECT_EQ(failed.wait({}, {seconds(5), kFailedJob}), kFailed);
  EXPECT_TRUE(failed.console.out_text.contains("Failed, 0 of 1..3 pods: 7 failures"));
  World succeeded;
  EXPECT_EQ(succeeded.wait({.goal = "running"}, {seconds(5), kSucceeded}), kDone);
  World deleted;
  EXPECT_EQ(deleted.wait({}, {seconds(5)}), kNotFound);
}

TEST(WaitTraining, deleted_waits_for_ended_jobs_too) {
  World world;
  world.set_status(kFailedJob);
  EXPECT_EQ(world.wait({.goal = "deleted"}, {seconds(5)}), kDone);
  EXPECT_EQ(world.console.out_text, "trainingjob/bert deleted\n");
}

TEST(ScaleTraining, changes_what_was_given_and_prints_old_and_new) {
  World world;
  EXPECT_EQ(world.scale({.min = 2, .max = 6}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "trainingjob/bert scaled: min 1 -> 2, max 3 -> 6, size none\n");
  EXPECT_EQ(world.scale({.size = 4}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "trainingjob/bert scaled: min 2, max 6, size none -> 4\n");
  EXPECT_EQ(world.spec().desired_size, 4);
  EXPECT_EQ(world.scale({.size = 0}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "trainingjob/bert scaled: min 2, max 6, size 4 -> none\n");
  const model::TrainingJobSpec spec = world.spec();
  EXPECT_EQ(spec.min_size, 2);
  EXPECT_EQ(spec.max_size, 6);
  EXPECT_EQ(spec.desired_size, std::nullopt);
  EXPECT_EQ(spec.priority, 7);
}

TEST(ScaleTraining, wrong_numbers_are_rejected_before_anything_is_sent) {
  World world;
  world.full = true;
  EXPECT_EQ(world.scale({.min = 5}), kUsage);
  EXPECT_EQ(world.console.err_text,
            "error: trainingjob bert: min 5 is above max 3; add --max 5 or lower --min; nothing "
            "was changed\n");
  EXPECT_EQ(world.scale({.size = 4}), kUsage);
  EXPECT_EQ(world.console.err_text,
            "error: trainingjob bert: size 4 is outside min..max 1..3; change --size, or add --min "
            "or --max; nothing was changed\n");
  EXPECT_EQ(world.scale({}), kUsage);
  EXPECT_EQ(world.console.err_text, "error: scale needs --min, --max or --size\n");
  EXPECT_EQ(world.scale({.name = "nothing", .min = 1}), kNotFound);
  EXPECT_EQ(world.refused, 0);
}

TEST(ScaleTraining, ended_jobs_stay_as_they_are) {
  World world;
  world.set_status(kSucceeded);
  EXPECT_EQ(world.scale({.max = 5}), kFailed);
  EXPECT_EQ(world.console.err_text,
            "error: trainingjob bert has ended already; nothing was changed\n");
  EXPECT_EQ(world.spec().max_size, 3);
}

TEST(PriorityTraining, is_changed_until_the_end) {
  World world;
  const auto change = [&] {
    return world.verb(
        [](Session& s) { return run_priority_training(s, {.name = "bert", .priority = 9}); });
  };
  EXPECT_EQ(change(), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "trainingjob/bert priority 9 (was 7)\n");
  EXPECT_EQ(world.spec().priority, 9);
  world.set_status(kSucceeded);
  EXPECT_EQ(change(), kFailed);
}

TEST(CancelTraining, deletes_jobs_that_have_not_ended) {
  World world;
  world.set_status(kSucceeded);
  EXPECT_EQ(world.named(run_cancel_training, {"bert"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "trainingjob/bert has already ended\n");
  world.set_status(R"({"stage":"Running","conditions":[]})");
  EXPECT_EQ(world.named(run_cancel_training, {"bert"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "trainingjob/bert cancelled\n");
  EXPECT_EQ(world.status(), kNotFound);
}

TEST(HoldTraining, sets_suspend_once) {
  World world;
  EXPECT_EQ(world.named(run_hold_training, {"bert"}), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.out_text, "trainingjob/bert held\n");
  EXPECT_TRUE(world.spec().run_policy.suspend);
  EXPECT_EQ(world.named(run_hold_training, {"bert"}), kDone);
  EXPECT_EQ(world.console.out_text, "trainingjob/bert is already held\n");
  EXPECT_EQ(world.named(run_release_training, {"bert"}), kDone);
  EXPECT_EQ(world.console.out_text, "trainingjob/bert released\n");
  EXPECT_FALSE(world.spec().run_policy.suspend);
  world.set_status(kSucceeded);
  EXPECT_EQ(world.named(run_hold_training, {"bert"}), kFailed);
}

Task<int> grow_big(Session& session) {
  const auto done = co_await session.client().patch(
      kJobs, {"default", "big"}, kube::PatchKind::merge,
      R"({"status":{"stage":"Running","currentSize":3}})", {.subresource = "status"});
  EXPECT_TRUE(done.has_value()) << done.error().message;
  co_return 0;
}

// A node of four CPUs; workers request one each.
constexpr const char* kNode =
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus:\n"
    "  allocatable: {cpu: 4, memory: 16Gi, pods: 110}\n"
    "  capacity: {cpu: 4, memory: 16Gi, pods: 110}\n"
    "  conditions: [{type: Ready, status: \"True\", reason: r, message: m}]\n";
// Somebody else's pod has so many of them.
std::string pod_of_cpus(int cpus) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: other}\nspec: {nodeName: node-1, "
         "containers: [{name: c, image: i, resources: {requests: {cpu: " +
         std::to_string(cpus) + "}}}]}\n";
}

int explain(World& world) {
  return world.verb([](Session& s) {
    return run_explain_training(s, {.name = "bert", .controller_ns = "codeflare-system"});
  });
}

TEST(ExplainTraining, says_why_a_running_job_is_not_larger) {
  World world;
  world.write("node.yaml", kNode + pod_of_cpus(2));
  ASSERT_EQ(world.create("node.yaml"), kDone) << world.console.err_text;
  world.set_status(
      R"({"stage":"Running","currentSize":2,"readySize":2,"plan":{"generation":1,"places":[)"
      R"({"index":0,"node":"node-1"},{"index":1,"node":"node-1"}]}})");
  EXPECT_EQ(explain(world), kDone) << world.console.err_text;
  const std::string& out = world.console.out_text;
  EXPECT_TRUE(out.contains("Size:        2 of 1..3 pods\n")) << out;
  EXPECT_TRUE(out.contains("Growth:      grows to 3 later: needs 1 CPU, 0 of 4 free")) << out;
  EXPECT_FALSE(out.contains("Next size")) << out;
  EXPECT_FALSE(out.contains("Not read")) << out;
}

TEST(ExplainTraining, names_the_shortage_of_a_waiting_job_and_who_has_growth) {
  World world;
  world.write("node.yaml", kNode + pod_of_cpus(4) + job_yaml("big", "  maxSize: 5\n"));
  ASSERT_EQ(world.create("node.yaml"), kDone) << world.console.err_text;
  EXPECT_EQ(explain(world), kDone) << world.console.err_text;
  const std::string& out = world.console.out_text;
  EXPECT_TRUE(
      out.contains("Waits:       one pod needs 1 CPU, the largest node has 0 for the queue; needs "
                   "1 CPU, 0 of 4 free"))
      << out;
  EXPECT_FALSE(out.contains("above their minimum")) << out;
  world.verb([](Session& s) { return grow_big(s); });
  EXPECT_EQ(explain(world), kDone) << world.console.err_text;
  EXPECT_TRUE(
      out.contains("TrainingJobs above their minimum:\n"
                   "  default/big: 3 pods, 2 above its minimum 1, priority 7\n"))
      << out;
}

TEST(ExplainTraining, a_job_that_is_not_in_the_queue_is_explained_by_its_status) {
  World world;
  std::string wrong = job_yaml("wrong", "");
  wrong.replace(wrong.find("name: trainingjob,"), 18, "name: main,");
  world.write("wrong.yaml", kNode + wrong);
  ASSERT_EQ(world.create("wrong.yaml"), kDone) << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) {
    return run_explain_training(s, {.name = "wrong", .controller_ns = "codeflare-system"});
  }),
            kDone)
      << world.console.err_text;
  EXPECT_FALSE(world.console.out_text.contains("placement: ")) << world.console.out_text;
}

TEST(VerbTable, trainingjobs_have_a_short_name) {
  using Words = std::vector<std::string>;
  for (const char* word : {"tj", "trainingjob", "trainingjobs"}) {
    EXPECT_EQ(in_order(verb_table(), {"status", word, "bert"}),
              (Words{"status", "trainingjob", "bert"}));
  }
  EXPECT_EQ(in_order(verb_table(), {"delete", "tj/a", "tj/b"}),
            (Words{"delete", "trainingjob", "a", "b"}));
  EXPECT_EQ(in_order(verb_table(), {"scale", "bert", "--min", "2"}),
            (Words{"scale", "trainingjob", "bert", "--min", "2"}));
}

}  // namespace
}  // namespace codeflare::cli
