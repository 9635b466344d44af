#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/scale/machine_nodes.h"
#include "controllers/scale/provider.h"
#include "kube/client.h"
#include "model/gvk.h"
#include "runtime/manager.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::scale {

inline constexpr std::string_view kProvisioningProvider = "provisioning-request";
// Of a MachineType with this provider: the class of the ProvisioningRequest. All others but `image`
// become parameters of the ProvisioningRequest.
inline constexpr std::string_view kClassParameter = "class";
inline constexpr std::string_view kAtomicClass = "best-effort-atomic-scale-up.autoscaling.x-k8s.io";
// On pods that use what a ProvisioningRequest of their namespace got.
inline constexpr std::string_view kConsumeAnnotation =
    "autoscaling.x-k8s.io/consume-provisioning-request";
inline constexpr std::string_view kClassAnnotation = "autoscaling.x-k8s.io/provisioning-class-name";
inline const model::ResourceType kProvisioningRequests{.group = "autoscaling.x-k8s.io",
                                                       .version = "v1",
                                                       .kind = "ProvisioningRequest",
                                                       .plural = "provisioningrequests",
                                                       .namespaced = true};

// The provider `provisioning-request`: one ProvisioningRequest for all machines of a MachineRequest
// and a PodTemplate for each kind of pod, in the namespace of the work. Once the autoscaler says
// Provisioned, new Nodes with the labels of the type are the machines. Autoscalers remove the
// Nodes. The server serves ProvisioningRequests.
class ProvisioningMachines final : public Provider {
 public:
  // The driver outlives it.
  ProvisioningMachines(runtime::Manager& manager, const QueueDriver& driver);

  Task<Result<void>> ask(std::vector<MachineOrder> orders) override;
  std::vector<MachineView> look(const std::vector<MachineOrder>& orders) const override;
  model::StringMap pod_annotations(const MachineOrder& order,
                                   const std::string& node) const override;
  Task<Result<bool>> give_back(MachineOrder order) override;
  bool leaves_nodes() const override { return true; }

 private:
  std::vector<std::string> arrivals(const MachineOrder& type,
                                    const std::vector<MachineOrder>& orders,
                                    bool provisioned) const;
  void look_at_type(const MachineOrder& type, const std::vector<MachineOrder>& orders,
                    bool provisioned, std::vector<MachineView>& views) const;

  kube::Client& client_;
  runtime::Informer& requests_;
  runtime::Informer& templates_;
  const runtime::Store& pods_;
  MachineNodes nodes_;
  const QueueDriver& driver_;
};

// The conditions of a ProvisioningRequest, read.
struct ProvisioningState {
  bool provisioned = false;
  std::string problem{};  // the machines will not come
  std::string note{};     // why they are not there yet
};
ProvisioningState provisioning_state(const kube::Object& request);

}  // namespace codeflare::controllers::scale
