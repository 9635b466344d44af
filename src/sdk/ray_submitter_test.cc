#include "sdk/ray_submitter.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

TEST(RaySubmitter, a_container_gets_the_request_in_its_environment) {
  model::Container container;
  container.args = {"leftover"};
  ASSERT_TRUE(set_submitter_command(container, {.submission_id = "a", .entrypoint = "echo $HOME"}));
  EXPECT_EQ(container.command.at(2), "-c");
  EXPECT_TRUE(container.command.at(3).starts_with("import asyncio"));
  // In the script no dollar is expanded by Kubernetes.
  EXPECT_FALSE(container.command.at(3).contains('$'));
  EXPECT_TRUE(container.args.empty());
  ASSERT_EQ(container.env.size(), 1u);
  EXPECT_TRUE(container.env[0].value.contains("echo $$HOME")) << container.env[0].value;
  ASSERT_TRUE(set_submitter_command(container, {.submission_id = "a", .entrypoint = "ls"}));
  EXPECT_EQ(container.env.size(), 1u);
}

TEST(RaySubmitter, a_runtime_environment_must_be_an_object) {
  model::Container container;
  EXPECT_FALSE(set_submitter_command(container, {.entrypoint = "ls", .runtime_env = "[]"}));
}

TEST(RaySubmitter, the_end_of_the_job_is_in_the_termination_message) {
  const auto failed = submitter_end(R"({"status": "FAILED", "exitCode": 3})");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, "FAILED");
  EXPECT_EQ(failed->exit_code, 3);
  EXPECT_EQ(submitter_end(R"({"status": "STOPPED", "exitCode": null})")->exit_code, std::nullopt);
  EXPECT_FALSE(submitter_end("Traceback"));
  EXPECT_FALSE(submitter_end("{"));
  EXPECT_FALSE(submitter_end("{}"));
}

}  // namespace
}  // namespace codeflare::sdk
