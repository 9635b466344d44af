#include "queue/item_end.h"

#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::queue {
namespace {

TEST(Completion, looks_for_words_in_conditions_that_are_true) {
  const auto complete = [](const std::string& status, std::string_view words) {
    return is_complete(json::parse(R"({"status":)" + status + "}")->root, words);
  };
  const std::string done = R"({"conditions":[{"type":"Complete","status":"True"}]})";
  EXPECT_TRUE(complete(done, "Complete"));
  EXPECT_TRUE(complete(done, "failed, complete"));
  EXPECT_TRUE(complete(R"({"conditions":[{"type":"JobCompleted","status":"True"}]})", "complete"));
  EXPECT_FALSE(complete(R"({"conditions":[{"type":"Complete","status":"False"}]})", "Complete"));
  EXPECT_FALSE(complete(done, "Succeeded"));
  EXPECT_FALSE(complete(done, " , "));
  EXPECT_TRUE(complete(R"({"phase":"Succeeded"})", "Succeeded"));
  EXPECT_TRUE(complete(R"({"jobStatus":"SUCCEEDED"})", "succeeded"));
  EXPECT_FALSE(complete("{}", "Complete"));
}

TEST(Completion, a_failure_is_what_the_object_says_of_itself) {
  const auto failure = [](const std::string& conditions) {
    return failure_of(json::parse(R"({"status":{"conditions":)" + conditions + "}}")->root);
  };
  EXPECT_EQ(failure(R"([{"type":"Failed","status":"True","reason":"R","message":"m"}])"), "R: m");
  EXPECT_EQ(failure(R"([{"type":"Failed","status":"False","reason":"R"}])"), "");
  EXPECT_FALSE(failure(R"([{"type":"Failed","status":"True"}])").empty());
}

TEST(Completion, pods_and_ray_jobs_say_in_their_own_way_that_they_failed) {
  const auto status = [](const std::string& text) {
    return json::parse(R"({"status":)" + text + "}");
  };
  const auto failure = [&](const std::string& text) { return failure_of(status(text)->root); };
  EXPECT_EQ(failure(R"({"phase":"Failed","reason":"Evicted","message":"no disk"})"),
            "Evicted: no disk");
  EXPECT_FALSE(failure(R"({"phase":"Failed"})").empty());
  EXPECT_EQ(failure(R"({"phase":"Running"})"), "");
  EXPECT_EQ(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Failed","message":"m"})"), "m");
  EXPECT_FALSE(failure(R"({"jobStatus":"STOPPED","jobDeploymentStatus":"Complete"})").empty());
  EXPECT_FALSE(failure(R"({"jobDeploymentStatus":"Failed"})").empty());
  EXPECT_EQ(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Retrying"})"), "");
  EXPECT_EQ(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Running","failed":0})"), "");
  EXPECT_FALSE(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Running"})").empty());
  EXPECT_EQ(failure(R"({"jobDeploymentStatus":"ValidationFailed","reason":"ValidationFailed",
                        "message":"no entry point"})"),
            "ValidationFailed: no entry point");
  EXPECT_EQ(failure(R"({"jobStatus":"SUCCEEDED","jobDeploymentStatus":"Complete"})"), "");
  EXPECT_TRUE(is_finished(status(R"({"phase":"Failed"})")->root));
  EXPECT_TRUE(is_finished(status(R"({"jobStatus":"SUCCEEDED"})")->root));
  EXPECT_TRUE(is_finished(status(R"({"conditions":[{"type":"Complete","status":"True"}]})")->root));
  EXPECT_FALSE(is_finished(status(R"({"phase":"Running"})")->root));
  EXPECT_FALSE(is_finished(status("{}")->root));
}

// An object of this kind with this status.
Result<json::Document> object(std::string_view api_version, std::string_view kind,
                              std::string_view status) {
  return json::parse(R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" +
                     std::string(kind) + R"(","status":)" + std::string(status) + "}");
}

TEST(Completion, a_known_kind_ends_only_where_its_own_api_says_so) {
  const std::string phase = R"({"phase":"Failed"})";
  EXPECT_EQ(failure_of(object("v1", "Pod", phase)->root), "its phase is Failed");
  EXPECT_EQ(failure_of(object("batch/v1", "Job", phase)->root), "");
  const std::string condition = R"({"conditions":[{"type":"Complete","status":"True"}]})";
  EXPECT_TRUE(is_finished(object("batch/v1", "Job", condition)->root));
  EXPECT_FALSE(is_finished(object("ray.io/v1", "RayJob", condition)->root));
  const std::string job = R"({"jobStatus":"FAILED"})";
  EXPECT_EQ(failure_of(object("ray.io/v1", "RayJob", job)->root), "its job is FAILED");
  EXPECT_EQ(failure_of(object("kubeflow.org/v1", "PyTorchJob", job)->root), "");
}

TEST(Completion, an_unknown_kind_ends_wherever_it_says_so) {
  for (const std::string_view status : {R"({"phase":"Failed"})", R"({"jobStatus":"FAILED"})",
                                        R"({"conditions":[{"type":"Failed","status":"True"}]})"}) {
    EXPECT_FALSE(failure_of(object("example.com/v1", "Train", status)->root).empty()) << status;
  }
}

}  // namespace
}  // namespace codeflare::queue
