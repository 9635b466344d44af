#pragma once

#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/node.h"
#include "model/resource_list.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// MachineType (scale.codeflare.dev/v1alpha1): machines that the queue may ask for.
namespace codeflare::model {

struct MachineTypeSpec {
  ResourceList capacity;  // of one machine, as its Node will have it allocatable
  StringMap labels;       // of its Node
  List<Taint> taints;     // of its Node
  std::string provider;   // who makes the machines
  StringMap parameters;   // for the provider
  std::int64_t max = 0;   // machines at a time
  std::optional<double> cost_per_hour;
  std::optional<std::int64_t> start_seconds;  // usual time from the request to a ready Node
  Extra extra;

  friend bool operator==(const MachineTypeSpec&, const MachineTypeSpec&) = default;
};

struct MachineType {
  ObjectMeta metadata;
  MachineTypeSpec spec;
  Extra extra;

  friend bool operator==(const MachineType&, const MachineType&) = default;
};

template <>
struct ResourceTraits<MachineType> {
  static constexpr std::string_view group = "scale.codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "scale.codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "MachineType";
  static constexpr std::string_view plural = "machinetypes";
  static constexpr bool namespaced = false;
};

}  // namespace codeflare::model
