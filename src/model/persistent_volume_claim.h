#pragma once

#include "model/condition.h"
#include "model/container.h"
#include "model/extra.h"
#include "model/labels.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resource_list.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct PersistentVolumeClaimSpec {
  List<std::string> access_modes;
  std::optional<LabelSelector> selector;
  ResourceRequirements resources;
  std::string volume_name;
  std::optional<std::string> storage_class_name;
  std::optional<std::string> volume_mode;
  Extra extra;

  friend bool operator==(const PersistentVolumeClaimSpec&,
                         const PersistentVolumeClaimSpec&) = default;
};

struct PersistentVolumeClaimStatus {
  std::string phase;
  List<std::string> access_modes;
  ResourceList capacity;
  List<Condition> conditions;
  Extra extra;

  friend bool operator==(const PersistentVolumeClaimStatus&,
                         const PersistentVolumeClaimStatus&) = default;
};

struct PersistentVolumeClaim {
  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;
  Extra extra;

  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

}  // namespace codeflare::model
