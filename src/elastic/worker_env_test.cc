#include "elastic/worker_env.h"

#include <gtest/gtest.h>

namespace codeflare::elastic {
namespace {

WorkerSetting setting(Framework framework) {
  return {.framework = framework,
          .run_id = "uid",
          .socket = "/s",
          .state_directory = "/state",
          .error_file = "/e",
          .index = 4,
          .local_rank = 1,
          .nproc = 2,
          .restarts = 3,
          .restarts_max = 5,
          .round = Round{
              .generation = 7,
              .address = "10.0.0.1",
              .port = 29500,
              .ranks = {{.index = 1, .rank = 0, .nproc = 2, .address = "10.0.0.1", .port = 29500},
                        {.index = 4, .rank = 2, .nproc = 2, .address = "10.0.0.4", .port = 29504}},
              .world_size = 4}};
}

TEST(WorkerEnv, pytorch_gets_the_contract_of_torchrun) {
  const WorkerVariables got = worker_variables(setting(Framework::pytorch));
  const std::map<std::string, std::string> wanted = {{"RANK", "3"},
                                                     {"LOCAL_RANK", "1"},
                                                     {"GROUP_RANK", "1"},
                                                     {"ROLE_RANK", "3"},
                                                     {"ROLE_NAME", "default"},
                                                     {"WORLD_SIZE", "4"},
                                                     {"LOCAL_WORLD_SIZE", "2"},
                                                     {"GROUP_WORLD_SIZE", "2"},
                                                     {"ROLE_WORLD_SIZE", "4"},
                                                     {"MASTER_ADDR", "10.0.0.1"},
                                                     {"MASTER_PORT", "29500"},
                                                     {"TORCHELASTIC_RESTART_COUNT", "3"},
                                                     {"TORCHELASTIC_MAX_RESTARTS", "5"},
                                                     {"TORCHELASTIC_RUN_ID", "uid"},
                                                     {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                                                     {"TORCHELASTIC_ERROR_FILE", "/e"},
                                                     {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
                                                     {"OMP_NUM_THREADS", "1"},
                                                     {"LATTICE_RUN_ID", "uid"},
                                                     {"LATTICE_AGENT_SOCKET", "/s"},
                                                     {"LATTICE_STATE_DIR", "/state"},
                                                     {"LATTICE_GENERATION", "7"}};
  for (const auto& [name, value] : wanted) {
    EXPECT_EQ(got.contains(name) ? got.at(name) : std::nullopt, value) << name;
  }
}

TEST(WorkerEnv, tensorflow_gets_the_cluster) {
  const WorkerVariables got = worker_variables(setting(Framework::tensorflow));
  EXPECT_EQ(got.at("TF_CONFIG"), R"({"cluster":{"worker":["10.0.0.1:29500","10.0.0.4:29504"]},)"
                                 R"("task":{"type":"worker","index":1}})");
  EXPECT_FALSE(got.contains("RANK"));
}

TEST(WorkerEnv, generic_programs_learn_only_where_the_agent_is) {
  for (const auto& [name, value] : worker_variables(setting(Framework::generic))) {
    EXPECT_TRUE(name.starts_with("LATTICE_")) << name;
  }
}

TEST(WorkerEnv, a_worker_that_starts_ahead_knows_no_group) {
  WorkerSetting ahead = setting(Framework::pytorch);
  ahead.round.reset();
  const WorkerVariables got = worker_variables(ahead);
  EXPECT_FALSE(got.contains("RANK"));
  EXPECT_TRUE(got.contains("LOCAL_RANK"));
}

}  // namespace
}  // namespace codeflare::elastic
