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

TEST(RaySubmitter, the_exit_code_is_in_the_termination_message) {
  EXPECT_EQ(exit_code_in(R"({"status": "FAILED", "exitCode": 3})"), 3);
  EXPECT_EQ(exit_code_in(R"({"status": "STOPPED", "exitCode": null})"), std::nullopt);
  EXPECT_EQ(exit_code_in("Traceback"), std::nullopt);
  EXPECT_EQ(exit_code_in("{"), std::nullopt);
}

}  // namespace
}  // namespace codeflare::sdk
