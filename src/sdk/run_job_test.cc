#include "sdk/run_job.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

TEST(RunJob, makes_resources_limits_and_labels_of_its_options) {
  const Result<GangSubmission> made = run_submission({.name = "train",
                                                      .ns = "team",
                                                      .command = {"python", "train.py"},
                                                      .memory = "4",
                                                      .gpus = 2,
                                                      .pods = 3,
                                                      .time = "1h30m",
                                                      .priority = 7,
                                                      .quota = {"context=gold"},
                                                      .env = {"A=b=c"},
                                                      .image = "torch"});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->gang.resources,
            (model::StringMap{{"cpu", "1"}, {"memory", "4G"}, {"nvidia.com/gpu", "2"}}));
  EXPECT_EQ(made->gang.env, (model::StringMap{{"A", "b=c"}, {"PYTHONUNBUFFERED", "1"}}));
  EXPECT_EQ(made->queueing.limit_seconds, 5400);
  EXPECT_EQ(made->queueing.quota, (model::StringMap{{"context", "gold"}}));
  EXPECT_EQ(made->command, "python train.py");
}

TEST(RunJob, names_the_option_that_is_wrong) {
  const auto fault = [](RunSpec spec) {
    spec.name = "a";
    spec.image = "i";
    spec.command = {"ls"};
    const Result<GangSubmission> made = run_submission(spec);
    return made ? std::string("none") : made.error().message;
  };
  EXPECT_EQ(fault({.time = "6"}), "--time: '6' is not a time such as 6h, 90m or 1h30m");
  EXPECT_EQ(fault({.quota = {"gold"}}), "--quota: 'gold' is not TREE=NODE");
  EXPECT_TRUE(fault({.cpus = "two"}).contains("cpu 'two': not a quantity"));
  EXPECT_TRUE(fault({.memory = "4 Gi"}).contains("memory '4 Gi': not a quantity"));
  EXPECT_EQ(fault({.gpus = -1}), "--gpus: must be 0 or more");
  EXPECT_TRUE(fault({.pods = 0}).contains("number of pods 0"));
}

TEST(RunJob, names_jobs_after_their_script) {
  SimEnv sim;
  Random& random = sim.env().random;
  const auto stem = [&](std::vector<std::string> command) {
    std::string name = run_name(command, random);
    EXPECT_EQ(name[name.size() - 6], '-') << name;
    return name.substr(0, name.size() - 6);
  };
  EXPECT_EQ(stem({"python3", "src/My_Train.v2.py", "--x"}), "my-train");
  EXPECT_EQ(stem({"/usr/bin/nvidia-smi"}), "nvidia-smi");
  EXPECT_EQ(stem({"7z"}), "run-7z");
  EXPECT_EQ(stem({"[", "a", "]"}), "run");
}

}  // namespace
}  // namespace codeflare::sdk
