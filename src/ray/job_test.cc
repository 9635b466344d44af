#include "ray/job.h"

#include "ray/internal/answer.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::ray {
namespace {

using internal::Answer;
using internal::Effect;
using internal::effect_of;
using internal::to_error;

TEST(RayJob, is_read_as_ray_2_60_writes_it) {
  const auto job = parse_job(R"({"type":"SUBMISSION","job_id":"02000000","submission_id":"a",
    "driver_info":{"id":"02000000","node_ip_address":"127.0.0.1","pid":"1"},"status":"FAILED",
    "entrypoint":"exit 3","message":"Job failed","error_type":"JOB_ENTRYPOINT_COMMAND_ERROR",
    "start_time":1700000000123,"end_time":1700000001000,"metadata":{"k":"v"},
    "runtime_env":{"env_vars":{}},"driver_agent_http_address":"http://127.0.0.1:1",
    "driver_node_id":"n","driver_exit_code":3})");
  ASSERT_TRUE(job) << job.error().to_string();
  EXPECT_EQ(job->status, JobStatus::failed);
  EXPECT_EQ(job->exit_code, 3);
  EXPECT_EQ(job->started, WallTime(std::chrono::milliseconds(1700000000123)));
  EXPECT_EQ(job->runtime_env, R"({"env_vars":{}})");
  EXPECT_EQ(job->node_id, "n");
  EXPECT_TRUE(job->submitted);
  EXPECT_TRUE(is_terminal(job->status));
}

TEST(RayJob, of_a_driver_has_no_submission_id) {
  const auto jobs = parse_jobs(
      R"([{"type":"DRIVER","job_id":"01000000","submission_id":null,"status":"RUNNING",
           "entrypoint":"","start_time":0,"metadata":null,"driver_exit_code":null}])");
  ASSERT_TRUE(jobs) << jobs.error().to_string();
  EXPECT_FALSE(jobs->front().submitted);
  EXPECT_FALSE(jobs->front().started);
  EXPECT_FALSE(jobs->front().exit_code);
}

TEST(RayJob, that_is_not_understood_is_an_error) {
  EXPECT_EQ(parse_job("[]").error().code, ErrorCode::data_loss);
  EXPECT_EQ(parse_job("{").error().code, ErrorCode::data_loss);
  EXPECT_TRUE(parse_job(R"({"status":"NEW"})").error().message.ends_with("status 'NEW'"));
  EXPECT_FALSE(parse_jobs("{}"));
  EXPECT_FALSE(parse_version("{}"));
  EXPECT_FALSE(parse_bool_member(R"({"stopped":1})", "stopped"));
  EXPECT_EQ(parse_text_member(R"({"logs":"x"})", "logs"), "x");
}

TEST(RayJob, is_written_without_what_was_not_asked_for) {
  JobRequest request{.submission_id = "a", .entrypoint = "echo \"x\""};
  EXPECT_EQ(to_json(request),
            R"({"entrypoint":"echo \"x\"","submission_id":"a","runtime_env":{},"metadata":{}})");
  request.num_cpus = 1;
  request.num_gpus = 0.5;
  request.memory_bytes = 18446744073709551615u;
  request.resources = {{"TPU", 2}};
  request.label_selector = {{"zone", "a"}};
  EXPECT_TRUE(to_json(request)->ends_with(
      R"("entrypoint_num_cpus":1,"entrypoint_num_gpus":0.5,"entrypoint_memory":18446744073709551615,"entrypoint_resources":{"TPU":2},"entrypoint_label_selector":{"zone":"a"}})"));
  request.runtime_env = "[]";
  EXPECT_FALSE(to_json(request));
}

TEST(RayAnswer, says_what_may_follow) {
  EXPECT_EQ(effect_of(Answer{503, ""}), Effect::none);
  EXPECT_EQ(effect_of(Answer{429, ""}), Effect::none);
  EXPECT_EQ(effect_of(Answer{500, "No available agent to submit job"}), Effect::none);
  EXPECT_EQ(effect_of(Answer{500, "x\nTimeoutError: Failed to get head node agent within 10 s"}),
            Effect::none);
  EXPECT_EQ(effect_of(Answer{500, "aiohttp.ClientConnectorError: Cannot connect to host"}),
            Effect::unknown);
  EXPECT_EQ(effect_of(Answer{502, ""}), Effect::unknown);
  EXPECT_EQ(effect_of(Answer{500, "KeyError"}), Effect::final);
  EXPECT_EQ(effect_of(Answer{400, ""}), Effect::final);
  EXPECT_EQ(effect_of(unavailable("x")), Effect::none);
  EXPECT_EQ(effect_of(deadline_exceeded("x")), Effect::unknown);
  EXPECT_EQ(effect_of(cancelled()), Effect::final);
}

TEST(RayAnswer, becomes_an_error_with_the_line_that_says_it) {
  const Error traceback =
      to_error("submit job a",
               {400, "Traceback (most recent call last):\n  File \"x\"\nTypeError: bad\n.\n"});
  EXPECT_EQ(traceback.code, ErrorCode::invalid_argument);
  EXPECT_EQ(traceback.message, "submit job a: TypeError: bad");
  const Error status =
      to_error("list jobs", {403, R"({"kind":"Status","message":"services \"x\" is forbidden"})"});
  EXPECT_EQ(status.code, ErrorCode::permission_denied);
  EXPECT_EQ(status.message, "list jobs: services \"x\" is forbidden");
  EXPECT_EQ(to_error("x", {404, ""}).message, "x: the Ray dashboard answered 404");
  // Ray's head wraps what its agent answered.
  EXPECT_EQ(to_error("x", {500,
                           "RuntimeError: Request failed with status code 400: Traceback\n"
                           "ValueError: Job with submission_id a already exists. Please use a "
                           "different submission_id.\n.\n"})
                .code,
            ErrorCode::already_exists);
}

}  // namespace
}  // namespace codeflare::ray
