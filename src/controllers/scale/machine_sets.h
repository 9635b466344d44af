#pragma once

#include "base/result.h"
#include "controllers/scale/provider.h"
#include "kube/object.h"
#include "model/gvk.h"
#include "model/meta.h"
#include "model/node.h"
#include "model/resource_list.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// OpenShift's MachineSets and Machines, read and written. Pure.
namespace codeflare::controllers::scale {

inline const model::ResourceType kMachineSets{.group = "machine.openshift.io",
                                              .version = "v1beta1",
                                              .kind = "MachineSet",
                                              .plural = "machinesets",
                                              .namespaced = true};
inline const model::ResourceType kMachines{.group = "machine.openshift.io",
                                           .version = "v1beta1",
                                           .kind = "Machine",
                                           .plural = "machines",
                                           .namespaced = true};
// On a Machine: the set removes it first when its replicas go down.
inline constexpr std::string_view kDeleteAnnotation =
    "machine.openshift.io/cluster-api-delete-machine";
// On a Machine: the machine of a request that it is.
inline constexpr std::string_view kMachineAnnotation = "scale.codeflare.dev/machine";

struct MachineSet {
  model::ObjectMeta metadata;
  std::int64_t replicas = 1;
  std::string instance_type;
  model::StringMap node_labels;
  std::vector<model::Taint> node_taints;
  std::string problem;  // "MachineSet a: InvalidConfiguration: ..."; empty: none
  kube::ObjectRef object;
};
Result<MachineSet> read_machine_set(const kube::ObjectRef& object);

struct Machine {
  model::ObjectMeta metadata;
  std::string set;
  std::string node;
  std::string phase;
  std::string problem;  // "Machine a: CreateError: ..."; empty: none

  // Name of the order; empty: nobody's.
  std::string_view order() const;
  bool is_marked() const;
};
Result<Machine> read_machine(const kube::Object& object);

// Capacity and maxPods of the set's annotations, without what OpenShift's kubelets keep for the
// system.
model::ResourceList machine_capacity(const MachineSet& set);

// The machines that the replicas include for the request and type of the order, by their numbers;
// nothing: the set is another one.
std::optional<std::set<std::string>> counted(const MachineSet& set, const MachineOrder& order);
bool is_counted(const MachineSet& set, std::string_view order);  // by its name
// The set was made for the request, and has no other machines.
bool is_copy(const MachineSet& set, const MachineOrder& order);
std::string copy_name(const MachineOrder& order);

// Patches and objects. The orders are all of one type of a request. Patches are rejected when
// somebody has written the object since.
std::string raise_patch(const MachineSet& set, const std::vector<MachineOrder>& orders);
std::string copy_json(const MachineSet& set, const std::vector<MachineOrder>& orders);
// The order no longer counts; with `lower` the replicas go down by one.
std::string release_patch(const MachineSet& set, const MachineOrder& order, bool lower);
std::string bind_patch(const Machine& machine, const MachineOrder& order, bool mark);

}  // namespace codeflare::controllers::scale
