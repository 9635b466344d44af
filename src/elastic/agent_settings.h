#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "elastic/agent.h"
#include "elastic/etcd_endpoint.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::elastic {

enum class Backend : std::uint8_t { kubernetes, etcd };

// The command line of the agent. Every flag is also a variable: --nproc-per-node is
// LATTICE_NPROC_PER_NODE, and torchrun's PET_NPROC_PER_NODE counts too. Flags win.
struct AgentSettings {
  bool help = false;
  std::string install_directory{};  // copy the agent and the library there, nothing else
  Backend backend = Backend::kubernetes;
  std::string ns{};
  std::string job{};
  EtcdEndpoint etcd{};
  AgentOptions agent{};
};

// Errors name the flag and the variable.
Result<AgentSettings> read_agent_settings(const codeflare::Variables& variables,
                                          std::vector<std::string> arguments);
std::string agent_usage(std::string_view program);

}  // namespace codeflare::elastic
