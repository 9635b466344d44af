#pragma once

#include <cstdint>
#include <string>

namespace codeflare::elastic {

// The rights of a job's agents under the backend `kubernetes`, as objects that the controller makes
// in the job's namespace, and the Leases of 0014. Each is JSON without an owner.
struct AgentAccess {
  std::string ns;
  std::string job;
  std::string service_account = "default";  // of the pods
  std::int32_t size_max = 1;                // members 0 to size_max - 1
};

std::string agent_access_name(const std::string& job);  // "bert-agent"
// Reads the one TrainingJob, and reads and patches the named Leases: nothing else of the namespace.
std::string agent_role(const AgentAccess& access);
std::string agent_role_binding(const AgentAccess& access);
// Of a member or of the round, by name; no holder yet.
std::string lease_without_holder(const std::string& ns, const std::string& name);

}  // namespace codeflare::elastic
