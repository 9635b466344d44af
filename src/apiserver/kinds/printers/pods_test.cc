#include "apiserver/kinds/testing/printed.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

using testing::printed;

// A pod of two containers, created five and a half minutes ago.
std::string pod(std::string_view status, std::string_view metadata = "",
                std::string_view spec = "") {
  return R"({"metadata":{"name":"web-0","creationTimestamp":"2026-11-16T11:54:30Z")" +
         std::string(metadata) + R"(},"spec":{"containers":[{"name":"a"},{"name":"b"}])" +
         std::string(spec) + R"(},"status":)" + std::string(status) + "}";
}

// Ready, Status and Restarts.
std::string state(const std::string& object) {
  std::string cells = printed("", "pods", object);
  constexpr std::string_view kBegin = R"(["web-0",)";
  EXPECT_TRUE(cells.starts_with(kBegin)) << cells;
  return cells.substr(kBegin.size(), cells.find(R"(,"5m30s",)") - kBegin.size());
}

constexpr std::string_view kRunning = R"("ready":true,"state":{"running":{}})";

std::string statuses(std::string_view a, std::string_view b, std::string_view more = "") {
  return R"({"phase":"Running","containerStatuses":[{"name":"a",)" + std::string(a) +
         R"(},{"name":"b",)" + std::string(b) + "}]" + std::string(more) + "}";
}

TEST(PodPrinter, has_the_columns_that_kubectl_users_know) {
  std::string names;
  std::string wide;
  auto printer = builtin_printer("", "v1", "pods");
  for (const Column& column : printer->columns()) {
    (column.priority == 0 ? names : wide) += column.name + ";";
  }
  EXPECT_EQ(names, "Name;Ready;Status;Restarts;Age;");
  EXPECT_EQ(wide, "IP;Node;Nominated Node;Readiness Gates;");
  EXPECT_EQ(printer->columns()[0].format, "name");
}

TEST(PodPrinter, shows_the_phase_when_no_container_has_a_say) {
  EXPECT_EQ(state(pod(R"({"phase":"Pending"})")), R"("0/2","Pending","0")");
  EXPECT_EQ(state(pod(R"({})")), R"("0/2","","0")");
  EXPECT_EQ(state(pod(statuses(kRunning, kRunning))), R"("2/2","Running","0")");
}

TEST(PodPrinter, a_reason_goes_before_the_phase) {
  EXPECT_EQ(state(pod(R"({"phase":"Failed","reason":"Evicted"})")), R"("0/2","Evicted","0")");
  EXPECT_EQ(state(pod(R"({"phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]})")),
            R"("0/2","SchedulingGated","0")");
}

TEST(PodPrinter, the_first_container_with_something_to_say_names_the_status) {
  EXPECT_EQ(state(pod(statuses(R"("state":{"waiting":{"reason":"ContainerCreating"}})",
                               R"("state":{"waiting":{"reason":"ImagePullBackOff"}})"))),
            R"("0/2","ContainerCreating","0")");
  EXPECT_EQ(state(pod(statuses(kRunning, R"("state":{"waiting":{"reason":"CrashLoopBackOff"}})"))),
            R"("1/2","CrashLoopBackOff","0")");
  EXPECT_EQ(state(pod(statuses(kRunning, R"("state":{"terminated":{"reason":"OOMKilled"}})"))),
            R"("1/2","OOMKilled","0")");
}

TEST(PodPrinter, an_end_without_a_reason_shows_its_signal_or_exit_code) {
  EXPECT_EQ(state(pod(statuses(kRunning, R"("state":{"terminated":{"exitCode":3}})"))),
            R"("1/2","ExitCode:3","0")");
  EXPECT_EQ(state(pod(statuses(kRunning, R"("state":{"terminated":{"exitCode":137,"signal":9}})"))),
            R"("1/2","Signal:9","0")");
}

TEST(PodPrinter, a_completed_container_beside_a_running_one_is_not_the_end) {
  constexpr std::string_view kDone = R"("state":{"terminated":{"reason":"Completed"}})";
  EXPECT_EQ(state(pod(statuses(kDone, kDone))), R"("0/2","Completed","0")");
  EXPECT_EQ(state(pod(statuses(kDone, kRunning))), R"("1/2","NotReady","0")");
  EXPECT_EQ(
      state(pod(statuses(kDone, kRunning, R"(,"conditions":[{"type":"Ready","status":"True"}])"))),
      R"("1/2","Running","0")");
}

TEST(PodPrinter, restarts_say_when_the_last_one_was) {
  EXPECT_EQ(
      state(pod(statuses(
          R"("restartCount":2,"lastState":{"terminated":{"finishedAt":"2026-11-16T11:55:00Z"}})",
          R"("restartCount":3,"lastState":{"terminated":{"finishedAt":"2026-11-16T11:58:00Z"}})"))),
      R"-("0/2","Running","5 (2m ago)")-");
  EXPECT_EQ(state(pod(statuses(R"("restartCount":2)", R"("restartCount":1)"))),
            R"("0/2","Running","3")");
}

TEST(PodPrinter, a_deleted_pod_is_terminating_until_it_has_ended) {
  constexpr std::string_view kDeleted = R"(,"deletionTimestamp":"2026-11-16T11:59:00Z")";
  EXPECT_EQ(state(pod(statuses(kRunning, kRunning), kDeleted)), R"("2/2","Terminating","0")");
  EXPECT_EQ(state(pod(R"({"phase":"Succeeded"})", kDeleted)), R"("0/2","Succeeded","0")");
  EXPECT_EQ(state(pod(R"({"phase":"Failed"})", kDeleted)), R"("0/2","Failed","0")");
  EXPECT_EQ(state(pod(R"({"phase":"Running","reason":"NodeLost"})", kDeleted)),
            R"("0/2","Unknown","0")");
  EXPECT_EQ(state(pod(R"({"phase":"Running","reason":"NodeLost"})")), R"("0/2","NodeLost","0")");
}

// A pod with two init containers, the second a sidecar when `sidecar`.
std::string init_pod(std::string_view first, std::string_view second, bool sidecar = false,
                     std::string_view more = "") {
  return pod(R"({"phase":"Pending","initContainerStatuses":[{"name":"i",)" + std::string(first) +
                 R"(},{"name":"j",)" + std::string(second) + "}]" + std::string(more) + "}",
             "",
             std::string(R"(,"initContainers":[{"name":"i"},{"name":"j")") +
                 (sidecar ? R"(,"restartPolicy":"Always")" : "") + "}]");
}

constexpr std::string_view kWaiting = R"("state":{"waiting":{"reason":"PodInitializing"}})";
constexpr std::string_view kDone = R"("state":{"terminated":{"exitCode":0}})";

TEST(PodPrinter, init_containers_are_counted_off) {
  EXPECT_EQ(state(init_pod(kWaiting, kWaiting)), R"("0/2","Init:0/2","0")");
  EXPECT_EQ(state(init_pod(R"("state":{"running":{}})", kWaiting)), R"("0/2","Init:0/2","0")");
  EXPECT_EQ(state(init_pod(kDone, kWaiting)), R"("0/2","Init:1/2","0")");
  EXPECT_EQ(state(init_pod(kDone, kDone)), R"("0/2","Pending","0")");
}

TEST(PodPrinter, a_failed_init_container_says_why) {
  EXPECT_EQ(state(init_pod(R"("state":{"terminated":{"exitCode":1,"reason":"Error"}})", kWaiting)),
            R"("0/2","Init:Error","0")");
  EXPECT_EQ(state(init_pod(R"("state":{"terminated":{"exitCode":1}})", kWaiting)),
            R"("0/2","Init:ExitCode:1","0")");
  EXPECT_EQ(state(init_pod(R"("state":{"terminated":{"exitCode":2,"signal":15}})", kWaiting)),
            R"("0/2","Init:Signal:15","0")");
  EXPECT_EQ(state(init_pod(R"("restartCount":4,"lastState":{"terminated":
      {"finishedAt":"2026-11-16T11:59:50Z"}},"state":{"waiting":{"reason":"CrashLoopBackOff"}})",
                           kWaiting)),
            R"-("0/2","Init:CrashLoopBackOff","4 (10s ago)")-");
}

TEST(PodPrinter, sidecars_count_as_containers_and_keep_their_restarts) {
  constexpr std::string_view kSidecar =
      R"("restartCount":2,"started":true,"ready":true,"state":{"running":{}})";
  constexpr std::string_view kFinished =
      R"("restartCount":7,"state":{"terminated":{"exitCode":0}})";
  EXPECT_EQ(state(init_pod(kFinished, kSidecar, true)), R"("1/3","Pending","2")");
  // As a plain init container it would hold the pod up, and every restart counts.
  EXPECT_EQ(state(init_pod(kFinished, kSidecar)), R"("0/2","Init:1/2","9")");
  EXPECT_EQ(state(init_pod(kDone, R"("started":false,"state":{"running":{}})", true)),
            R"("0/3","Init:1/2","0")");
}

TEST(PodPrinter, once_initialized_a_restarting_sidecar_does_not_hide_the_containers) {
  EXPECT_EQ(state(init_pod(kDone, R"("restartCount":1,"state":{"waiting":{"reason":"X"}})", true,
                           R"(,"conditions":[{"type":"Initialized","status":"True"}],
          "containerStatuses":[{"name":"a","restartCount":1,"ready":true,"state":{"running":{}}}])")),
            R"("1/3","Init:X","2")");
}

TEST(PodPrinter, wide_cells_name_addresses_nodes_and_readiness_gates) {
  std::string bare = printed("", "pods", pod("{}"));
  EXPECT_TRUE(bare.ends_with(R"("5m30s","<none>","<none>","<none>","<none>"])")) << bare;
  std::string full = printed("", "pods",
                             pod(R"({"podIP":"10.0.0.7",
      "podIPs":[{"ip":"10.0.0.7"},{"ip":"fd00::7"}],"nominatedNodeName":"n2","conditions":
      [{"type":"example.com/a","status":"True"},{"type":"example.com/b","status":"False"}]})",
                                 "", R"(,"nodeName":"n1","readinessGates":
      [{"conditionType":"example.com/a"},{"conditionType":"example.com/b"},
       {"conditionType":"example.com/c"}])"));
  EXPECT_TRUE(full.ends_with(R"("5m30s","10.0.0.7","n1","n2","1/3"])")) << full;
}

TEST(PodPrinter, templates_show_containers_images_and_labels) {
  EXPECT_EQ(printed("", "podtemplates", R"({"metadata":{"name":"t"},"template":{"metadata":
      {"labels":{"z":"1","a":"2"}},"spec":{"containers":[{"name":"a","image":"i:1"},
      {"name":"b","image":"j:2"}]}}})"),
            R"(["t","a,b","i:1,j:2","a=2,z=1"])");
}

}  // namespace
}  // namespace codeflare::apiserver
