#pragma once

#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resource_list.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// MachineRequest (scale.codeflare.dev/v1alpha1): machines that were asked for, all of them or none.
// Written by the scale controller alone (docs/decisions/0017-machines.md).
namespace codeflare::model {

struct MachineAmount {
  std::string type;      // name of a MachineType
  std::string provider;  // of the type when it was asked for
  std::int64_t count = 0;
  Extra extra;

  friend bool operator==(const MachineAmount&, const MachineAmount&) = default;
};

// Pods of the object that asked first, for which new machines come.
struct MachinePods {
  std::string type;  // of the machines
  std::int64_t count = 0;
  ResourceList requests;  // of one pod
  Extra extra;

  friend bool operator==(const MachinePods&, const MachinePods&) = default;
};

// The object that asked first; others may share its machines.
struct MachineWork {
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  Extra extra;

  friend bool operator==(const MachineWork&, const MachineWork&) = default;
};

struct MachineRequestSpec {
  List<MachineAmount> machines;
  List<MachinePods> pods;
  MachineWork work;
  StringMap labels;  // of all Nodes, beside those of the types
  Extra extra;

  friend bool operator==(const MachineRequestSpec&, const MachineRequestSpec&) = default;
};

struct MachineState {
  std::string name;
  std::string node;  // empty until it has one
  std::string type;
  std::string phase;  // "Pending", "Ready", "Leaving", "Gone"
  Extra extra;

  friend bool operator==(const MachineState&, const MachineState&) = default;
};

struct MachineRequestStatus {
  std::string phase;  // "Pending", "Ready", "Failed"
  std::string message;
  std::string ready;  // "1/2", for people
  List<MachineState> machines;
  std::optional<Time> ready_time;
  std::optional<Time> retry_time;  // of a failed one: its types rest until then
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const MachineRequestStatus&, const MachineRequestStatus&) = default;
};

struct MachineRequest {
  ObjectMeta metadata;
  MachineRequestSpec spec;
  MachineRequestStatus status;
  Extra extra;

  friend bool operator==(const MachineRequest&, const MachineRequest&) = default;
};

template <>
struct ResourceTraits<MachineRequest> {
  static constexpr std::string_view group = "scale.codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "scale.codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "MachineRequest";
  static constexpr std::string_view plural = "machinerequests";
  static constexpr bool namespaced = false;
};

}  // namespace codeflare::model
