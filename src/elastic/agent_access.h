#pragma once

#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::elastic {

// The rights of a job's agents under the backend `kubernetes`, as objects that the controller makes
// in the job's namespace, and the Leases of 0014. Each is JSON.
struct AgentAccess {
  std::string ns;
  std::string job;
  std::string service_account = "default";  // of the pods
  std::int32_t size_max = 1;                // members 0 to size_max - 1
  std::optional<model::OwnerReference> owner{};
};

// Of the objects that have an owner: the name of the job.
inline constexpr std::string_view kJobLabel = "breezeml.ai/job";

std::string agent_access_name(const std::string& job);  // "bert-agent"
// Reads the one TrainingJob, and reads and patches the named Leases: nothing else of the namespace.
std::string agent_role(const AgentAccess& access);
std::string agent_role_binding(const AgentAccess& access);
// Named agent_access_name(), for pods whose template names none.
std::string agent_service_account(const AgentAccess& access);
// Of a member or of the round, by name; no holder yet.
std::string lease_without_holder(const std::string& ns, const std::string& name);
std::string lease_without_holder(const AgentAccess& access, const std::string& name);

}  // namespace codeflare::elastic
