#include "cli/views/work_view.h"

#include "cli/testing/wrappers.h"
#include "cli/views/explain_view.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace codeflare::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::kNow;

model::Pod pod(const std::string& name, const std::string& node) {
  model::Pod made;
  made.metadata.name = name;
  made.metadata.creation_timestamp = kNow - minutes(2);
  made.spec.node_name = node;
  made.spec.containers.push_back({.name = "main", .image = "train:1"});
  made.status.container_statuses.push_back({.name = "main"});
  return made;
}

model::Pod failed(const std::string& name, std::int32_t code, const std::string& log) {
  model::Pod made = pod(name, "node-1");
  made.status.phase = "Failed";
  made.status.container_statuses[0].state.terminated = {
      .exit_code = code, .reason = "Error", .message = log, .finished_at = kNow - seconds(30)};
  return made;
}

GroupedWrapper ended(const std::string& state) {
  GroupedWrapper out = testing::wrapper("train");
  out.status.state = state;
  out.status.consumed_seconds = 90;
  out.status.controller_first_dispatch_timestamp = model::MicroTime{kNow - seconds(150)};
  out.status.finished = model::MicroTime{kNow - minutes(1)};
  return out;
}

TEST(WorkView, of_failed_work_shows_the_cause_the_times_and_the_log) {
  GroupedWrapper wrapper = ended("Failed");
  testing::add_condition(wrapper, "Failed", "ItemFailed.",
                         "jobs.batch default/train failed: pod train-x, container main: exit code "
                         "1: KeyError: 'lr'");
  Work work{.pods = {failed("train-x", 1, "KeyError: 'lr'")},
            .log = {"Traceback", "KeyError: 'lr'"}};
  EXPECT_EQ(render_explanation({.wrapper = wrapper, .work = work}, kNow),
            "appwrapper default/train is Failed\n"
            "  ItemFailed: jobs.batch default/train failed: pod train-x, container main: exit code "
            "1: KeyError: 'lr'\n"
            "  started 2023-11-14T22:10:50Z, ended 2023-11-14T22:12:20Z (60s ago)\n"
            "  waited 2m30s, ran 90s on node-1 (1 pod)\n"
            "\n"
            "Last lines of the log of pod train-x, container main:\n"
            "  Traceback\n"
            "  KeyError: 'lr'\n"
            "\n"
            "Next:\n"
            "  codeflare logs appwrapper train -n default\n"
            "  codeflare delete appwrapper train -n default, then correct the cause and create the "
            "AppWrapper again\n");
}

TEST(WorkView, adds_a_cause_that_the_status_does_not_have) {
  GroupedWrapper wrapper = ended("Failed");
  testing::add_condition(wrapper, "Failed", "ItemFailed.", "jobs.batch default/train failed: B");
  const std::string text =
      render_explanation({.wrapper = wrapper, .work = Work{.pods = {failed("p", 3, "")}}}, kNow);
  EXPECT_TRUE(text.contains("\n  pod p, container main: exit code 3\n")) << text;
}

TEST(WorkView, of_completed_work_says_how_long_and_where) {
  model::Pod done = pod("train-x", "node-2");
  done.status.phase = "Succeeded";
  GroupedWrapper wrapper = ended("Completed");
  wrapper.status.succeeded = 1;
  EXPECT_EQ(render_explanation(
                {.wrapper = wrapper, .work = Work{.items = {"Job train"}, .pods = {done}}}, kNow),
            "appwrapper default/train is Completed\n"
            "  work: Job train: 1 pod succeeded\n"
            "  started 2023-11-14T22:10:50Z, ended 2023-11-14T22:12:20Z (60s ago)\n"
            "  waited 2m30s, ran 90s on node-2 (1 pod)\n"
            "\n"
            "Next:\n"
            "  codeflare logs appwrapper train -n default\n");
}

TEST(WorkView, of_work_whose_pods_are_gone_says_that_their_logs_are_too) {
  const std::string text = render_explanation(
      {.wrapper = ended("Completed"),
       .work = Work{.items = {"Job a", "Job b", "Job c", "Job d", "Job e", "Job f"}}},
      kNow);
  EXPECT_TRUE(text.contains("  work: Job a, Job b, Job c, Job d, Job e and 1 more\n")) << text;
  EXPECT_TRUE(text.ends_with("\nNext:\n  its pods are deleted, and their logs with them\n"))
      << text;
}

TEST(WorkView, of_work_that_never_started_says_so) {
  GroupedWrapper wrapper = ended("Failed");
  wrapper.status.controller_first_dispatch_timestamp.reset();
  const std::string text = render_explanation({.wrapper = wrapper, .work = Work{}}, kNow);
  EXPECT_TRUE(text.contains("  never started, ended 2023-11-14T22:12:20Z (60s ago)\n")) << text;
  EXPECT_FALSE(text.contains("pods are deleted")) << text;
}

TEST(WorkView, of_running_work_lists_pods_that_are_not_ready_and_why_it_stays) {
  model::Pod bad = pod("web-0", "node-1");
  bad.status.container_statuses[0].state.waiting = {.reason = "ErrImagePull", .message = "none"};
  model::Pod young = pod("web-1", "");
  const Work work{.pods = {bad, young}, .stays = "Deployment web runs until it is deleted"};
  EXPECT_EQ(
      render_explanation({.wrapper = testing::running("web"), .work = work}, kNow),
      "appwrapper default/web is Running on node-1 (2 pods), node-2 (1 pod)\n"
      "  pod web-0, container main: image train:1 is missing (ErrImagePull): none\n"
      "  waited 3m30s, started 90s ago\n"
      "  stays until it is deleted: Deployment web runs until it is deleted\n"
      "\n"
      "Pods that are not ready:\n"
      "  POD     NODE     FOR   REASON\n"
      "  web-0   node-1   2m    container main: image train:1 is missing (ErrImagePull): none\n"
      "  web-1   -        2m    waits for a node\n");
}

TEST(WorkView, says_what_only_an_event_tells) {
  const Work work{.warning = "Job web: FailedCreate: exceeded quota: small"};
  EXPECT_TRUE(render_explanation({.wrapper = testing::running("web"), .work = work}, kNow)
                  .contains("\n  Job web: FailedCreate: exceeded quota: small\n  waited "));
}

TEST(WorkView, of_work_that_was_stopped_says_by_whom_and_counts_its_times_apart) {
  GroupedWrapper wrapper = testing::waiting("train");
  wrapper.status.consumed_seconds = 60;
  testing::add_condition(wrapper, "PreemptCandidate", "Preempted",
                         "makes room for default/urgent, which has a higher priority");
  EXPECT_EQ(stop_text(wrapper, kNow),
            "Preempted 60s ago: makes room for default/urgent, which has a higher priority; in all "
            "it waited 4m, ran 60s");
  EXPECT_TRUE(render_explanation({.wrapper = wrapper}, kNow)
                  .contains("\nStopped before: Preempted 60s ago: makes room for default/urgent"));
  EXPECT_EQ(stop_text(testing::waiting("other"), kNow), "");
  EXPECT_EQ(stop_text(testing::running("other"), kNow), "");
}

TEST(WorkView, last_lines_are_few_and_not_empty) {
  EXPECT_TRUE(last_lines("").empty());
  EXPECT_EQ(last_lines("a\n\n b\n"), (std::vector<std::string>{"a", " b"}));
  EXPECT_EQ(last_lines("1\n2\n3\n4\n5\n6\n7"), (std::vector<std::string>{"3", "4", "5", "6", "7"}));
}

TEST(WorkView, json_has_cause_times_and_pods) {
  const Explained explained{.wrapper = ended("Failed"),
                            .work = Work{.pods = {failed("p", 3, "bye")}, .log = {"bye"}}};
  const Result<json::Document> document = json::parse(explanation_json(explained, kNow));
  ASSERT_TRUE(document.has_value());
  const json::Value& cause = *document->root.find("cause");
  EXPECT_EQ(cause.string_or_empty("pod"), "p");
  EXPECT_EQ(cause.find("exitCode")->to_int64(), 3);
  EXPECT_EQ(cause.string_or_empty("message"), "pod p, container main: exit code 3: bye");
  EXPECT_EQ(document->root.find("ranSeconds")->to_int64(), 90);
  EXPECT_EQ(document->root.find("waitedSeconds")->to_int64(), 150);
  EXPECT_EQ(document->root.string_or_empty("started"), "2023-11-14T22:10:50Z");
  EXPECT_EQ(document->root.string_or_empty("finished"), "2023-11-14T22:12:20Z");
  EXPECT_TRUE(document->root.find("items")->is_array());
  EXPECT_TRUE(document->root.find("notReady")->is_array());
}

}  // namespace
}  // namespace codeflare::cli
