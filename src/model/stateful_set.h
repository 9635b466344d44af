#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/labels.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/persistent_volume_claim.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct StatefulSetSpec {
  std::optional<std::int32_t> replicas;  // 1 when absent
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
  List<PersistentVolumeClaim> volume_claim_templates;
  std::string service_name;
  std::string pod_management_policy;  // "OrderedReady" when empty, or "Parallel"
  RawJson update_strategy;
  std::optional<std::int32_t> revision_history_limit;
  std::int32_t min_ready_seconds = 0;
  Extra extra;

  friend bool operator==(const StatefulSetSpec&, const StatefulSetSpec&) = default;
};

struct StatefulSetStatus {
  std::int64_t observed_generation = 0;
  std::int32_t replicas = 0;
  std::int32_t ready_replicas = 0;
  std::int32_t current_replicas = 0;
  std::int32_t updated_replicas = 0;
  std::string current_revision;
  std::string update_revision;
  std::optional<std::int32_t> collision_count;
  List<Condition> conditions;
  std::int32_t available_replicas = 0;
  Extra extra;

  friend bool operator==(const StatefulSetStatus&, const StatefulSetStatus&) = default;
};

struct StatefulSet {
  ObjectMeta metadata;
  StatefulSetSpec spec;
  StatefulSetStatus status;
  Extra extra;

  friend bool operator==(const StatefulSet&, const StatefulSet&) = default;
};

}  // namespace codeflare::model
