#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "controllers/scale/provider.h"
#include "kube/client.h"
#include "model/pod.h"
#include "runtime/manager.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::scale {

inline constexpr std::string_view kPlaceholderProvider = "placeholder";
// Cluster-autoscaler ignores pods below -10 unless told otherwise.
inline constexpr std::string_view kPlaceholderClass = "codeflare-placeholder";
inline constexpr int kPlaceholderPriority = -10;
// Of a MachineType with this provider: image of the pods, which has to run until it is stopped.
inline constexpr std::string_view kImageParameter = "image";

struct PlaceholderOptions {
  std::string ns;      // of the pods
  std::string image;   // unless the type names one; empty: types have to
  bool binds = false;  // the queue binds pods itself: nobody pushes placeholders out
};

// The provider `placeholder`, for autoscalers that react to pods without a node (Karpenter,
// cluster-autoscaler): pausing pods with the requests of the gang's pods, in a PriorityClass below
// all others. The request is ready when each of them has a node. Autoscalers remove the Nodes.
class PlaceholderMachines final : public Provider {
 public:
  PlaceholderMachines(runtime::Manager& manager, PlaceholderOptions options);

  Task<Result<void>> ask(std::vector<MachineOrder> orders) override;
  std::vector<MachineView> look(const std::vector<MachineOrder>& orders) const override;
  Task<Result<void>> hand_over(std::vector<MachineOrder> orders) override;
  Task<Result<bool>> give_back(MachineOrder order) override;
  bool leaves_nodes() const override { return true; }

 private:
  // Of one type of a request: what its pods look like now.
  struct Held {
    bool complete = true;            // each pod has a ready node
    std::vector<std::string> nodes;  // that came for it, the oldest first
  };
  Held held_for(const MachineOrder& order) const;
  bool is_ready(const std::string& node) const;
  Task<Result<void>> ensure_class();
  Task<Result<void>> ask_type(MachineOrder order);
  Task<Result<void>> remove(std::string name);
  bool is_machine_of_others(const MachineOrder& order, const std::string& node) const;

  kube::Client& client_;
  const runtime::Store& pods_;
  const runtime::Store& nodes_;
  PlaceholderOptions options_;
  bool class_exists_ = false;
};

// Names of the pods that hold room for the machines of this type.
std::vector<std::string> placeholder_names(const MachineOrder& order);
// The JSON of one; `pods` is the entry of order.pods that it stands for.
std::string placeholder_json(const MachineOrder& order, const model::MachinePods& pods,
                             const model::ObjectKey& key, const std::string& image);

}  // namespace codeflare::controllers::scale
