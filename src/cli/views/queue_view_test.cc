#include "cli/views/queue_view.h"

#include "cli/testing/wrappers.h"
#include "queue/testing/training_jobs.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::kNow;
using testing::namesake;
using testing::running;
using testing::waiting;

std::vector<GroupedWrapper> line() {
  GroupedWrapper held = waiting("held", minutes(60));
  held.spec.suspend = true;
  GroupedWrapper urgent = waiting("urgent", seconds(3));
  urgent.spec.priority = 9;
  urgent.metadata.ns = "team";
  return {waiting("second", minutes(4)), waiting("first", minutes(5)), held, urgent,
          running("eval")};
}

TEST(QueueView, orders_by_priority_then_age_and_puts_the_held_last) {
  EXPECT_EQ(render_queue(queue_of(line(), {}, false, kNow), {}, kNow),
            "POSITION   NAMESPACE   NAME     PRIORITY   STATE     TIME   REASON\n"
            "-          default     eval     0          Running   90s\n"
            "1          team        urgent   9          Waiting   3s     InsufficientResources\n"
            "2          default     first    0          Waiting   5m     InsufficientResources\n"
            "3          default     second   0          Waiting   4m     InsufficientResources\n"
            "-          default     held     0          Held      60m    Held\n"
            "3 waiting, 1 running, 1 held\n");
}

TEST(QueueView, a_priority_that_was_changed_counts_and_not_the_one_at_first_sight) {
  std::vector<GroupedWrapper> all = line();
  all[0].status.system_priority = 10.5;
  EXPECT_EQ(queue_of(all, {}, false, kNow).entries[0].view.name, "urgent");
  all[0].spec.priority = 10;
  all[0].status.system_priority = 0;
  EXPECT_EQ(queue_of(all, {}, false, kNow).entries[0].view.name, "second");
}

TEST(QueueView, priority_that_grows_while_waiting_counts_where_the_controller_counts_it) {
  std::vector<GroupedWrapper> all = line();
  all[0].spec.priority_slope = 0.1;  // for four minutes: 24
  EXPECT_EQ(queue_of(all, {}, false, kNow).entries[0].view.name, "urgent");
  EXPECT_EQ(queue_of(all, {.priority_slope = true}, false, kNow).entries[0].view.name, "second");
}

TEST(QueueView, who_is_not_tried_now_has_no_place_in_line) {
  GroupedWrapper unknown = waiting("unknown", minutes(9));
  unknown.status.conditions.back().reason = "UserUnknown";
  const QueueView view = queue_of({unknown, waiting("a", seconds(1))}, {}, false, kNow);
  ASSERT_EQ(view.entries.size(), 2U);
  EXPECT_EQ(view.entries[0].view.name, "a");
  EXPECT_EQ(view.entries[0].position, 1);
  EXPECT_EQ(view.entries[1].position, 0);
  EXPECT_TRUE(render_queue(view, {}, kNow).ends_with("2 waiting, 0 running\n"));
}

TEST(QueueView, a_namespace_is_shown_with_its_places_in_the_whole_line) {
  EXPECT_EQ(
      render_queue(queue_of(line(), {}, true, kNow), {.ns = "default", .wide = true}, kNow),
      "POSITION   NAMESPACE   NAME     PRIORITY   STATE     TIME   REASON                  NODES   "
      "            MESSAGE\n"
      "-          default     eval     0          Running   90s                            "
      "node-1:2,node-2:1\n"
      "2          default     first    0          Waiting   5m     InsufficientResources           "
      "            cpu: 12 asked, 3 free of 16\n"
      "3          default     second   0          Waiting   4m     InsufficientResources           "
      "            cpu: 12 asked, 3 free of 16\n"
      "-          default     held     0          Held      60m    Held                            "
      "            held by its owner; run 'codeflare release appwrapper held' to let it start\n"
      "2 waiting, 1 running, 1 held; 3 waiting, 1 running, 1 held in all; the queue is paused, run "
      "'codeflare queue resume' to "
      "start work\n");
}

TEST(QueueView, groups_are_told_where_one_is_mcads) {
  const QueueView view = queue_of(
      {waiting("train", minutes(5)), namesake(waiting("train", minutes(9)))}, {}, false, kNow);
  EXPECT_EQ(render_queue(view, {}, kNow),
            "POSITION   NAMESPACE   NAME    GROUP                    PRIORITY   STATE     TIME   "
            "REASON\n"
            "1          default     train   mcad.ibm.com             0          Waiting   9m     "
            "InsufficientResources\n"
            "2          default     train   workload.codeflare.dev   0          Waiting   5m     "
            "InsufficientResources\n"
            "2 waiting, 0 running\n");
  EXPECT_FALSE(render_queue(view, {.ns = "other"}, kNow).contains("GROUP"));
}

TEST(QueueView, of_two_namesakes_the_one_that_leaves_is_named) {
  const QueueView both = queue_of({waiting("train"), namesake(waiting("train"))}, {}, false, kNow);
  const QueueView one = queue_of({waiting("train")}, {}, false, kNow);
  EXPECT_EQ(render_changes(both, one, {}), "default/train of mcad.ibm.com was deleted\n");
  EXPECT_EQ(changes_json(both, one, {}, kNow),
            R"({"event":"deleted","namespace":"default","name":"train","group":"mcad.ibm.com"})"
            "\n");
}

TEST(QueueView, counts_are_those_of_the_filter) {
  GroupedWrapper elsewhere = waiting("other-train", minutes(5));
  elsewhere.metadata.ns = "other";
  const QueueView view = queue_of({waiting("train"), elsewhere}, {}, false, kNow);
  EXPECT_TRUE(render_queue(view, {.ns = "other"}, kNow)
                  .ends_with("1 waiting, 0 running; 2 waiting, 0 running in all\n"));
  EXPECT_EQ(render_queue(view, {.ns = "none"}, kNow),
            "0 waiting, 0 running; 2 waiting, 0 running in all\n");
}

TEST(QueueView, an_empty_line_is_one_line) {
  EXPECT_EQ(render_queue(queue_of({}, {}, false, kNow), {}, kNow), "0 waiting, 0 running\n");
}

TEST(QueueView, changes_are_a_line_each) {
  std::vector<GroupedWrapper> later = line();
  later.erase(later.begin() + 1);
  later.push_back(waiting("new", seconds(1)));
  EXPECT_EQ(
      render_changes(queue_of(line(), {}, false, kNow), queue_of(later, {}, true, kNow), {}),
      "default/second is waiting at position 2: InsufficientResources: cpu: 12 asked, 3 free of "
      "16\n"
      "default/new is waiting at position 3: InsufficientResources: cpu: 12 asked, 3 free of 16\n"
      "default/first was deleted\n"
      "the queue is paused\n");
  EXPECT_EQ(
      render_changes(queue_of(line(), {}, false, kNow), queue_of(line(), {}, false, kNow), {}), "");
}

TEST(QueueView, starts_ends_and_deletions_are_told_apart) {
  const auto look = [](const std::vector<GroupedWrapper>& wrappers) {
    return queue_of(wrappers, {}, false, kNow);
  };
  GroupedWrapper good = testing::wrapper("good");
  good.status.state = "Completed";
  GroupedWrapper bad = testing::wrapper("bad");
  bad.status.state = "Failed";
  testing::add_condition(bad, "Failed", "ItemFailed.", "Job bad failed");
  const QueueView before = look({waiting("a"), running("good"), running("bad"), running("gone")});
  const QueueView after = look({running("a"), good, bad, running("at-once")});
  EXPECT_EQ(render_changes(before, after, {}),
            "default/a has started on node-1 (2 pods), node-2 (1 pod)\n"
            "default/at-once has started on node-1 (2 pods), node-2 (1 pod)\n"
            "default/good is Completed\n"
            "default/bad is Failed: ItemFailed.: Job bad failed\n"
            "default/gone was deleted\n");
  EXPECT_TRUE(render_changes(after, before, {}).starts_with("default/a is waiting at position 1"));
  // Work that ended before says nothing more.
  EXPECT_EQ(render_changes(look({good}), look({}), {}), "");
  const std::string json = changes_json(before, after, {}, kNow);
  EXPECT_TRUE(json.starts_with(R"({"event":"started","namespace":"default","name":"a")")) << json;
  EXPECT_TRUE(json.contains(R"({"event":"ended","namespace":"default","name":"good")")) << json;
  EXPECT_TRUE(json.contains(R"("message":"Job bad failed","state":"Failed"})")) << json;
}

TEST(QueueView, changes_as_json_are_an_object_a_line) {
  const QueueView before = queue_of({waiting("a", seconds(90))}, {}, false, kNow);
  const QueueView after = queue_of({waiting("b", seconds(5))}, {}, true, kNow);
  EXPECT_EQ(changes_json({}, before, {}, kNow),
            R"({"event":"waits","position":1,"namespace":"default","name":"a",)"
            R"("group":"workload.codeflare.dev","priority":0,)"
            R"("submitted":"2023-11-14T22:11:50Z","waitSeconds":90,"held":false,)"
            R"("reason":"InsufficientResources","message":"cpu: 12 asked, 3 free of 16"})"
            "\n");
  const std::string changes = changes_json(before, after, {}, kNow);
  EXPECT_TRUE(changes.contains(R"({"event":"waits","position":1,"namespace":"default","name":"b")"))
      << changes;
  EXPECT_TRUE(
      changes.ends_with("\n{\"event\":\"deleted\",\"namespace\":\"default\",\"name\":\"a\","
                        "\"group\":\"workload.codeflare.dev\"}\n{\"event\":\"paused\"}\n"))
      << changes;
  EXPECT_EQ(changes_json(after, after, {}, kNow), "");
  EXPECT_EQ(changes_json({}, before, {.ns = "team", .wide = false}, kNow), "");
}

// Pods and what one needs, of a Job.
GroupedWrapper with_job(GroupedWrapper wrapper, const std::string& resources, int pods) {
  wrapper.spec.resources.generic_items[0].generic_template.text =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"parallelism":)" +
      std::to_string(pods) +
      R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)"
      R"("resources":{"limits":)" +
      resources + "}}]}}}}";
  return wrapper;
}

TEST(QueueView, a_line_says_who_asks_for_what_which_quota_and_since_when) {
  GroupedWrapper train = with_job(waiting("train", minutes(4)), R"({"nvidia.com/gpu":"8"})", 4);
  train.metadata.annotations["workload.codeflare.dev/submitted-by"] = R"({"username":"ann"})";
  train.metadata.labels["team"] = "gold";
  GroupedWrapper eval = with_job(running("eval"), R"({"cpu":"1500m"})", 1);
  eval.spec.scheduling_spec.emplace();
  eval.spec.scheduling_spec->dispatch_duration.emplace();
  eval.spec.scheduling_spec->dispatch_duration->limit = 3600;
  QueueView view = queue_of({train, eval}, {}, false, kNow, {"team"});
  ASSERT_EQ(view.entries.size(), 1U);
  view.entries[0].expected = kNow + minutes(12);
  const std::string text = render_queue(view, {}, kNow);
  EXPECT_EQ(
      text,
      "POSITION   NAMESPACE   NAME    USER   REQUESTS      QUOTA     PRIORITY   STATE     "
      "TIME         START    REASON\n"
      "-          default     eval           1 x 1.5 CPU   default   0          Running   90s "
      "of 60m\n"
      "1          default     train   ann    4 x 8 GPU     gold      0          Waiting   4m  "
      "         in 12m   InsufficientResources\n"
      "1 waiting, 1 running\n");
  EXPECT_FALSE(render_queue(view, {.ns = "", .user = "ann"}, kNow).contains("eval"));
  const QueueOptions gold{.ns = "", .selector = *model::Selector::parse("team=gold")};
  EXPECT_FALSE(render_queue(view, gold, kNow).contains("eval"));
  const std::string json = queue_json(view, {}, kNow);
  for (const char* field :
       {R"("user": "ann")", R"("requests": "4 x 8 GPU")", R"("quota": "gold")",
        R"("limitSeconds": 3600)", R"("runSeconds": 90)", R"("expectedStart": )"}) {
    EXPECT_TRUE(json.contains(field)) << field << json;
  }
}

TEST(QueueView, json_has_the_numbers) {
  EXPECT_EQ(queue_json(queue_of({waiting("a", seconds(90))}, {}, false, kNow), {}, kNow),
            "{\n"
            "    \"paused\": false,\n"
            "    \"running\": 0,\n"
            "    \"started\": [],\n"
            "    \"waiting\": [\n"
            "        {\n"
            "            \"position\": 1,\n"
            "            \"namespace\": \"default\",\n"
            "            \"name\": \"a\",\n"
            "            \"group\": \"workload.codeflare.dev\",\n"
            "            \"priority\": 0,\n"
            "            \"submitted\": \"2023-11-14T22:11:50Z\",\n"
            "            \"waitSeconds\": 90,\n"
            "            \"held\": false,\n"
            "            \"reason\": \"InsufficientResources\",\n"
            "            \"message\": \"cpu: 12 asked, 3 free of 16\"\n"
            "        }\n"
            "    ]\n"
            "}\n");
}

TEST(QueueView, TrainingJobs_stand_in_the_same_line) {
  model::TrainingJob waits = queue::testing::training_job("bert", 1, 6);
  waits.metadata.ns = "default";
  waits.metadata.creation_timestamp = kNow - minutes(6);
  waits.status.stage = "Waiting";
  waits.status.reason = "InsufficientResources";
  model::TrainingJob runs = queue::testing::training_job("llama", 2, 2);
  runs.metadata.ns = "default";
  runs.status.stage = "Running";
  runs.status.start_time = kNow - seconds(30);
  runs.status.plan.emplace().places = {{.index = 0, .node = "n1"}, {.index = 1, .node = "n2"}};
  model::TrainingJob held = queue::testing::training_job("quiet", 1, 1);
  held.metadata.ns = "default";
  held.metadata.creation_timestamp = kNow - minutes(1);
  held.spec.run_policy.suspend = true;
  held.status.stage = "Suspended";
  const std::vector<model::TrainingJob> jobs = {waits, runs, held};
  const QueueView view =
      queue_of({waiting("first"), waiting("last", minutes(1))}, {}, false, kNow, {}, jobs);
  EXPECT_EQ(render_queue(view, {}, kNow),
            "POSITION   NAMESPACE   NAME       REQUESTS       PRIORITY   STATE     TIME   REASON\n"
            "-          default     tj/llama   2 x 1 CPU      0          Running   30s\n"
            "1          default     tj/bert    1..6 x 1 CPU   0          Waiting   6m     "
            "InsufficientResources\n"
            "2          default     first                     0          Waiting   5m     "
            "InsufficientResources\n"
            "3          default     last                      0          Waiting   60s    "
            "InsufficientResources\n"
            "-          default     tj/quiet   1 x 1 CPU      0          Held      60s\n"
            "3 waiting, 1 running, 1 held\n");
  EXPECT_TRUE(queue_json(view, {}, kNow).contains("\"group\": \"breezeml.ai\""));
  model::TrainingJob done = runs;
  done.status.plan.reset();
  done.status.completion_time = kNow;
  done.status.stage = "Completed";
  done.status.conditions = {{.type = "Succeeded", .status = "True"}};
  const QueueView later = queue_of({waiting("first"), waiting("last", minutes(1))}, {}, false, kNow,
                                   {}, {waits, done, held});
  EXPECT_EQ(render_changes(view, later, {}), "default/tj/llama is Completed\n");
}

}  // namespace
}  // namespace codeflare::cli
