#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <string>
#include <string_view>
#include <vector>

// MCAD's `--dispatcher --agentconfigs FILE:NAME,...`: worker clusters by files.
namespace codeflare::controllers::dispatch {

struct AgentConfig {
  std::string file;  // a kubeconfig
  std::string name;  // of the ManagedCluster
};
Result<std::vector<AgentConfig>> parse_agent_configs(std::string_view text);

// Makes a Secret and a ManagedCluster of each file, or brings the Secret up to date. Other fields
// of the ManagedCluster stay.
Task<Result<void>> ensure_agents(kube::Client& client, std::vector<AgentConfig> agents);

}  // namespace codeflare::controllers::dispatch
