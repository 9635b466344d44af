#pragma once

#include "base/async/task.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/scale/machine_nodes.h"
#include "controllers/scale/machine_sets.h"
#include "controllers/scale/provider.h"
#include "kube/client.h"
#include "runtime/manager.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::scale {

inline constexpr std::string_view kMachineSetProvider = "machineset";
inline constexpr std::string_view kMachineSetNamespace = "openshift-machine-api";
// Of a MachineType with this provider: name of the MachineSet, or else the instance type of the
// MachineSet (by default the name of the MachineType).
inline constexpr std::string_view kMachineSetParameter = "machineSet";
inline constexpr std::string_view kInstanceTypeParameter = "instanceType";
// "reuse" (default): the set's replicas go up; "duplicate": a copy of the set for each request.
inline constexpr std::string_view kStrategyParameter = "strategy";

struct MachineSetOptions {
  std::string ns{kMachineSetNamespace};  // of the MachineSets
  Logger logger{};
};

// The provider `machineset`, for OpenShift: raises the replicas of a MachineSet, or copies the set.
// An annotation of the set, written together with its replicas, says which machines they include; a
// Machine says by an annotation which machine of a request it is. So nothing is counted twice,
// whoever dies in between. The server serves MachineSets.
class MachineSetMachines final : public Provider {
 public:
  // The driver outlives it.
  MachineSetMachines(runtime::Manager& manager, const QueueDriver& driver,
                     MachineSetOptions options);

  Task<Result<void>> ask(std::vector<MachineOrder> orders) override;
  std::vector<MachineView> look(const std::vector<MachineOrder>& orders) const override;
  Task<Result<bool>> give_back(MachineOrder order) override;
  // Capacity that the type leaves out, labels and taints, as its MachineSet has them.
  model::MachineTypeSpec complete(const model::MachineType& type) const override;

 private:
  std::vector<MachineSet> sets() const;
  std::vector<Machine> machines() const;  // the oldest first
  // The set whose replicas include machines for the order's request and type.
  std::optional<MachineSet> set_of(const MachineOrder& order) const;
  // The set that new machines come from.
  std::optional<MachineSet> source(const std::string& type,
                                   const model::MachineTypeSpec& spec) const;
  model::MachineTypeSpec completed(const std::string& type, model::MachineTypeSpec spec) const;
  bool is_used(const Machine& machine) const;
  Task<Result<void>> ask_type(std::vector<MachineOrder> orders);
  Task<Result<void>> begin(std::vector<MachineOrder> orders);
  Task<Result<void>> bind(MachineSet set, std::vector<MachineOrder> orders);
  Task<Result<void>> patch(runtime::Informer& informer, model::ObjectKey key, std::string body);
  Task<Result<bool>> release(MachineSet set, MachineOrder order);
  Task<Result<bool>> tidy(MachineOrder order);

  kube::Client& client_;
  runtime::Informer& sets_;
  runtime::Informer& machines_;
  MachineNodes nodes_;
  const runtime::Store& pods_;
  const QueueDriver& driver_;
  MachineSetOptions options_;
};

}  // namespace codeflare::controllers::scale
