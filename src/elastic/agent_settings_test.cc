#include "elastic/agent_settings.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::elastic {
namespace {

class AgentSettingsTest : public testing::Test {
 protected:
  AgentSettingsTest() {
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"LATTICE_JOB_NAME", "bert"},
                                            {"LATTICE_RDZV_ID", "uid"},
                                            {"LATTICE_INDEX", "2"},
                                            {"LATTICE_POD_UID", "pod"},
                                            {"LATTICE_POD_IP", "10.0.0.2"}}) {
      sim_.set_variable(name, value);
    }
  }
  Result<AgentSettings> read(std::vector<std::string> arguments) {
    return read_agent_settings(sim_.env().variables, std::move(arguments));
  }
  SimEnv sim_;
};

TEST_F(AgentSettingsTest, the_command_is_kept_word_for_word) {
  const std::vector<std::string> command = {"python", "--index", "9", "a b", "", "--", "$X"};
  std::vector<std::string> arguments = {"--nproc-per-node", "2", "--"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const AgentSettings settings = *read(arguments);
  EXPECT_EQ(settings.agent.command, command);
  EXPECT_EQ(settings.agent.identity.nproc, 2);
  EXPECT_EQ(settings.agent.identity.index, 2);
}

TEST_F(AgentSettingsTest, flags_win_over_variables_and_torchruns_variables_count) {
  sim_.set_variable("PET_NPROC_PER_NODE", "4");
  EXPECT_EQ(read({"--", "x"})->agent.identity.nproc, 4);
  sim_.set_variable("LATTICE_NPROC_PER_NODE", "3");
  EXPECT_EQ(read({"--", "x"})->agent.identity.nproc, 3);
  EXPECT_EQ(read({"--nproc_per_node=2", "--", "x"})->agent.identity.nproc, 2);
}

TEST_F(AgentSettingsTest, etcd_needs_a_host_and_takes_its_configuration) {
  sim_.set_variable("LATTICE_RDZV_BACKEND", "etcd");
  EXPECT_TRUE(read({"x"}).error().message.contains("LATTICE_RDZV_CLIENT_SERVICE_HOST"));
  sim_.set_variable("LATTICE_RDZV_CLIENT_SERVICE_HOST", "etcd.lattice");
  sim_.set_variable("LATTICE_RDZV_CONF", "protocol=https,cacert=/a");
  const AgentSettings settings = *read({"x"});
  EXPECT_EQ(settings.backend, Backend::etcd);
  EXPECT_EQ(settings.etcd.port, "2379");
  EXPECT_EQ(settings.etcd.conf.at("cacert"), "/a");
}

TEST_F(AgentSettingsTest, mistakes_name_flag_and_variable) {
  const auto error = [&](std::vector<std::string> arguments) {
    Result<AgentSettings> settings = read(std::move(arguments));
    return settings ? std::string() : settings.error().message;
  };
  EXPECT_TRUE(error({"--index", "x", "--", "y"}).contains("--index (LATTICE_INDEX) is 'x'"));
  EXPECT_TRUE(error({"--dance", "1", "--", "y"}).contains("unknown flag --dance"));
  EXPECT_TRUE(error({}).contains("no command"));
  EXPECT_TRUE(error({"--rdzv-backend", "c10d", "--", "y"}).contains("torchrun"));
  EXPECT_TRUE(error({"--framework", "jax", "--", "y"}).contains("jax"));
}

}  // namespace
}  // namespace codeflare::elastic
