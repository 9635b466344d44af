#include "sdk/job_info.h"

#include "json/write.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

using ray::JobStatus;

TEST(JobInfo, has_one_vocabulary) {
  const auto word = [](JobStatus status) {
    return std::string(to_string(job_info({}, {.status = status}).phase));
  };
  EXPECT_EQ(word(JobStatus::pending), "Pending");
  EXPECT_EQ(word(JobStatus::running), "Running");
  EXPECT_EQ(word(JobStatus::succeeded), "Succeeded");
  EXPECT_EQ(word(JobStatus::failed), "Failed");
  EXPECT_EQ(word(JobStatus::stopped), "Stopped");
  EXPECT_EQ(to_string(JobPhase::queued), "Queued");
  EXPECT_FALSE(has_ended(JobPhase::queued) || has_ended(JobPhase::pending));
  EXPECT_FALSE(has_ended(JobPhase::running));
  EXPECT_TRUE(has_ended(JobPhase::stopped) && has_ended(JobPhase::failed));
}

TEST(JobInfo, is_plain_data) {
  const JobInfo job = job_info({"team", "demo"}, {.submission_id = "a",
                                                  .status = JobStatus::failed,
                                                  .entrypoint = "python x.py",
                                                  .message = "exit code 3",
                                                  .error_type = "JOB_ENTRYPOINT_COMMAND_ERROR",
                                                  .started = WallTime(std::chrono::seconds(1)),
                                                  .metadata = {{"who", "me"}},
                                                  .exit_code = 3});
  json::Arena arena;
  EXPECT_EQ(
      json::to_text(to_json(arena, job)),
      R"({"name":"a","namespace":"team","backend":"ray","cluster":"demo","status":"Failed",)"
      R"("reason":"JOB_ENTRYPOINT_COMMAND_ERROR","message":"exit code 3",)"
      R"("command":"python x.py","rayJobId":"","started":"1970-01-01T00:00:01Z","ended":"",)"
      R"("exitCode":3,"cpus":"","memory":"","gpus":"","replicas":1,"attempts":1,"metadata":{"who":"me"}})");
  EXPECT_EQ(progress_line(job), "Failed: JOB_ENTRYPOINT_COMMAND_ERROR: exit code 3");
}

}  // namespace
}  // namespace codeflare::sdk
