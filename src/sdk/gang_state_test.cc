#include "sdk/gang_state.h"

#include "base/check.h"
#include "json/parse.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

template <typename T>
T read(const std::string& text) {
  const Result<json::Document> document = json::parse(text);
  CHECK(document.has_value(), "JSON of a test");
  Result<T> made = model::from_json<T>(document->root);
  CHECK(made.has_value(), "an object of a test");
  return *std::move(made);
}

model::AppWrapper wrapper(const std::string& status, const std::string& spec = "",
                          const std::string& notes = "") {
  const std::string text =
      R"({"metadata":{"name":"train","namespace":"team","uid":"u",)"
      R"("labels":{"codeflare.dev/job":"train","codeflare.dev/backend":"kubernetes"},)"
      R"("annotations":{"codeflare.dev/command":"python train.py")" +
      notes + R"(}},"spec":{)" + spec +
      R"("resources":{"GenericItems":[{"generictemplate":{"kind":"Job","spec":{"completions":2}}}]}},)"
      R"("status":{)" +
      status + "}}";
  return read<model::AppWrapper>(text);
}

model::Pod pod(int replica, const std::string& state) {
  const std::string text = R"({"metadata":{"name":"train-)" + std::to_string(replica) +
                           R"(-x","annotations":{"batch.kubernetes.io/job-completion-index":")" +
                           std::to_string(replica) +
                           R"("}},"status":{"containerStatuses":[{"name":"main","state":)" + state +
                           "}]}}";
  return read<model::Pod>(text);
}

constexpr const char* kRunning = R"({"running":{"startedAt":"2026-01-01T00:00:00Z"}})";

std::string ended(int code, const std::string& at, const std::string& reason = "Error") {
  return R"({"terminated":{"exitCode":)" + std::to_string(code) + R"(,"reason":")" + reason +
         R"(","startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T00:00:)" + at + R"(Z"}})";
}

TEST(GangState, waits_with_the_reason_of_the_queue) {
  const JobInfo job = gang_info(
      wrapper(
          R"("state":"Pending","conditions":[{"type":"Queued","status":"True","reason":"Insufficient","message":"needs 2"}])"),
      {});
  EXPECT_EQ(job.phase, JobPhase::queued);
  EXPECT_EQ(progress_line(job), "Queued: Insufficient: needs 2");
  EXPECT_EQ(job.backend, JobBackend::kubernetes);
  EXPECT_EQ(job.command, "python train.py");
  EXPECT_EQ(job.replicas, 2);
}

TEST(GangState, runs_once_a_pod_has_started) {
  const model::AppWrapper running = wrapper(R"("state":"Running","canrun":true)");
  EXPECT_EQ(gang_info(running, {}).phase, JobPhase::pending);
  const JobInfo job = gang_info(running, {pod(0, kRunning), pod(1, R"({"waiting":{}})")});
  EXPECT_EQ(job.phase, JobPhase::running);
  EXPECT_EQ(job.message, "1 of 2 pods started");
  ASSERT_TRUE(job.started.has_value());
  EXPECT_EQ(to_rfc3339(*job.started), "2026-01-01T00:00:00Z");
}

TEST(GangState, fails_with_the_replica_that_failed_first) {
  const JobInfo job =
      gang_info(wrapper(R"("state":"Failed")"),
                {pod(0, ended(1, "09")), pod(1, ended(137, "05", "OOMKilled")), pod(1, kRunning)});
  EXPECT_EQ(job.phase, JobPhase::failed);
  EXPECT_EQ(job.exit_code, 137);
  EXPECT_EQ(job.reason, "OOMKilled");
  EXPECT_EQ(job.message, "replica 1: exit code 137 (OOMKilled)");
  EXPECT_EQ(job.attempts, 2);
  EXPECT_EQ(to_rfc3339(*job.ended), "2026-01-01T00:00:09Z");
}

TEST(GangState, a_time_limit_is_the_cause_and_not_the_signal_that_it_sends) {
  const JobInfo job = gang_info(
      wrapper(R"("state":"Failed","conditions":[{"type":"Failed","status":"True","reason":)"
              R"("DispatchDeadlineExceeded","message":"allowed to run for 2 seconds"}])"),
      {pod(0, ended(143, "09"))});
  EXPECT_EQ(job.reason, "DispatchDeadlineExceeded");
  EXPECT_EQ(job.message, "reached its time limit: allowed to run for 2 seconds");
  EXPECT_EQ(job.exit_code, 143);
}

TEST(GangState, work_that_was_just_released_is_not_held) {
  const JobInfo released = gang_info(
      wrapper(R"("state":"Pending","conditions":[{"type":"Queued","status":"True","reason":)"
              R"("Held","message":"spec.suspend is true"}])"),
      {});
  EXPECT_EQ(released.phase, JobPhase::queued);
  EXPECT_EQ(released.reason, "");
}

TEST(GangState, tells_cancelled_from_held_and_incomplete) {
  const std::string suspended = R"("suspend":true,)";
  const JobInfo held = gang_info(wrapper("", suspended), {});
  EXPECT_EQ(held.phase, JobPhase::queued);
  EXPECT_EQ(held.reason, "Held");
  const JobInfo incomplete =
      gang_info(wrapper("", suspended, R"(,"codeflare.dev/submitting":"abc")"), {});
  EXPECT_EQ(incomplete.reason, "Submitting");
  const std::string stopped = R"(,"codeflare.dev/stopped":"2026-01-01T00:00:07Z")";
  const JobInfo cancelled = gang_info(wrapper("", suspended, stopped), {});
  EXPECT_EQ(cancelled.phase, JobPhase::stopped);
  EXPECT_EQ(to_rfc3339(*cancelled.ended), "2026-01-01T00:00:07Z");
  // Its pods are still there, and released it waits again.
  EXPECT_EQ(gang_info(wrapper(R"("canrun":true,"plan":{})", suspended, stopped), {}).phase,
            JobPhase::pending);
  EXPECT_EQ(gang_info(wrapper("", "", stopped), {}).phase, JobPhase::queued);
}

}  // namespace
}  // namespace codeflare::sdk
