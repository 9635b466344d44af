#pragma once

#include "model/machine_request.h"
#include "model/machine_type.h"
#include "queue/machines.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Allowed and requested machines, read from MachineTypes and MachineRequests. The controller and
// `codeflare explain` read them alike.
namespace codeflare::queue {

// Phases of MachineRequests and of their machines.
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kLeaving = "Leaving";
inline constexpr std::string_view kGone = "Gone";

std::string_view phase_of(const model::MachineRequest& request);

struct MarketRules {
  std::optional<std::int64_t> machines{};  // at a time, of all types
  std::string machines_name{};             // "--max-scaleout 3"
  std::optional<double> budget{};          // per hour
  std::optional<double> namespace_budget{};
  // With what the provider knows of its machines; nothing when nobody makes such machines.
  std::function<std::optional<model::MachineTypeSpec>(const model::MachineType&)> complete{};
};

MachineMarket market_of(const std::vector<model::MachineType>& types,
                        const std::vector<model::MachineRequest>& requests,
                        const MarketRules& rules);

// MachineTypes and MachineRequests of a worker cluster. Work that is sent there makes the worker's
// controller ask for machines.
struct ClusterMachines {
  std::string cluster;
  std::vector<model::MachineType> types{};
  std::vector<model::MachineRequest> requests{};
};
void add_cluster(const ClusterMachines& machines, MachineMarket& market);

}  // namespace codeflare::queue
