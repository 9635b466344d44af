#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/labels.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace codeflare::model {

struct ReplicaSetSpec {
  std::optional<std::int32_t> replicas;  // 1 when absent
  std::int32_t min_ready_seconds = 0;
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
  Extra extra;

  friend bool operator==(const ReplicaSetSpec&, const ReplicaSetSpec&) = default;
};

struct ReplicaSetStatus {
  std::int32_t replicas = 0;
  std::int32_t fully_labeled_replicas = 0;
  std::int32_t ready_replicas = 0;
  std::int32_t available_replicas = 0;
  std::int64_t observed_generation = 0;
  List<Condition> conditions;
  Extra extra;

  friend bool operator==(const ReplicaSetStatus&, const ReplicaSetStatus&) = default;
};

struct ReplicaSet {
  ObjectMeta metadata;
  ReplicaSetSpec spec;
  ReplicaSetStatus status;
  Extra extra;

  friend bool operator==(const ReplicaSet&, const ReplicaSet&) = default;
};

}  // namespace codeflare::model
