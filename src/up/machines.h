#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "controllers/scale/provider.h"
#include "kube/client.h"
#include "model/machine_type.h"
#include "runtime/informer.h"
#include "up/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::up {

inline constexpr std::string_view kLocalProvider = "local";
// Of a MachineType with this provider: "process" or "fake"; by default as the cluster has them.
inline constexpr std::string_view kNodesParameter = "nodes";
// Seconds between the request and the machine, for those who want to see how waiting looks.
inline constexpr std::string_view kDelayParameter = "delaySeconds";

// The provider `local`: nodes of a running `codeflare up`, on the same machine, which promise what
// their type has. Process nodes come back with their cluster.
class LocalMachines final : public controllers::scale::Provider {
 public:
  LocalMachines(Env env, kube::Client& client) : env_(env), client_(client) {}
  // Before the controllers run. Without process nodes: null.
  void begin(runtime::Informer& nodes, UpNodes* process_nodes);

  Task<Result<void>> ask(std::vector<controllers::scale::MachineOrder> orders) override;
  std::vector<controllers::scale::MachineView> look(
      const std::vector<controllers::scale::MachineOrder>& orders) const override;
  Task<Result<bool>> give_back(controllers::scale::MachineOrder order) override;
  model::MachineTypeSpec complete(const model::MachineType& type) const override;

 private:
  Result<bool> is_fake(const model::MachineTypeSpec& type) const;
  Task<Result<void>> add_fake(controllers::scale::MachineOrder order);
  node::NodeDescription describe(const controllers::scale::MachineOrder& order) const;

  Env env_;
  kube::Client& client_;
  runtime::Informer* nodes_ = nullptr;
  UpNodes* process_nodes_ = nullptr;
};

// The MachineTypes that `codeflare up` was started with: makes them, and removes those of an
// earlier start.
Task<Result<void>> ensure_machine_types(kube::Client& client,
                                        std::vector<model::MachineType> wanted);

// "big=cpu=8,memory=16Gi,gpus=1,max=3,cost=2.5,fake"; the error names the flag and the part.
Result<model::MachineType> parse_machine_type(const std::string& text);

}  // namespace codeflare::up
