#pragma once

#include "runtime/access.h"

#include <string_view>

namespace codeflare::controllers::scale {

// InstaScale's settings, in the controller's namespace or in InstaScale's.
inline constexpr std::string_view kInstaScaleConfigMap = "instascale-config";

inline constexpr runtime::Right kRights[] = {
    {"list watch", "scale.codeflare.dev", "machinetypes", "machines that may be asked for"},
    {"get list watch create patch delete", "scale.codeflare.dev", "machinerequests",
     "machines that were asked for"},
    {"patch", "scale.codeflare.dev", "machinerequests/status", "state of the machines"},
    {"list watch patch", "", "nodes", "taints and cordons of machines"},
    {"get", "", "configmaps", "InstaScale's limit", kInstaScaleConfigMap},
};

// Of the provider `placeholder`.
inline constexpr runtime::Right kPlaceholderRights[] = {
    {"create", "scheduling.k8s.io", "priorityclasses", "PriorityClass of placeholder pods"},
    {"list watch create delete", "", "pods", "placeholder pods"},
};

// Of the provider `provisioning-request`.
inline constexpr runtime::Right kProvisioningRights[] = {
    {"list watch create delete", "autoscaling.x-k8s.io", "provisioningrequests",
     "ProvisioningRequests for machines"},
    {"list watch create delete", "", "podtemplates", "pods that ProvisioningRequests name"},
};

// Of the provider `machineset`.
inline constexpr runtime::Right kMachineSetRights[] = {
    {"list watch create patch delete", "machine.openshift.io", "machinesets",
     "replicas and copies of MachineSets"},
    {"list watch patch", "machine.openshift.io", "machines", "Machines that go back"},
};

// Of the provider `local`, which makes Nodes itself.
inline constexpr runtime::Right kLocalRights[] = {
    {"get create delete", "", "nodes", "Nodes of machines"},
    {"update", "", "nodes/status", "capacity of Nodes"},
};

}  // namespace codeflare::controllers::scale
