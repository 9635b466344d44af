#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/int_or_string.h"
#include "model/labels.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct RollingUpdateDeployment {
  std::optional<IntOrString> max_unavailable;
  std::optional<IntOrString> max_surge;
  Extra extra;

  friend bool operator==(const RollingUpdateDeployment&, const RollingUpdateDeployment&) = default;
};

struct DeploymentStrategy {
  std::string type;  // "RollingUpdate" when empty, or "Recreate"
  std::optional<RollingUpdateDeployment> rolling_update;
  Extra extra;

  friend bool operator==(const DeploymentStrategy&, const DeploymentStrategy&) = default;
};

struct DeploymentSpec {
  std::optional<std::int32_t> replicas;  // 1 when absent
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
  DeploymentStrategy strategy;
  std::int32_t min_ready_seconds = 0;
  std::optional<std::int32_t> revision_history_limit;
  bool paused = false;
  std::optional<std::int32_t> progress_deadline_seconds;
  Extra extra;

  friend bool operator==(const DeploymentSpec&, const DeploymentSpec&) = default;
};

struct DeploymentStatus {
  std::int64_t observed_generation = 0;
  std::int32_t replicas = 0;
  std::int32_t updated_replicas = 0;
  std::int32_t ready_replicas = 0;
  std::int32_t available_replicas = 0;
  std::int32_t unavailable_replicas = 0;
  List<Condition> conditions;
  std::optional<std::int32_t> collision_count;
  Extra extra;

  friend bool operator==(const DeploymentStatus&, const DeploymentStatus&) = default;
};

struct Deployment {
  ObjectMeta metadata;
  DeploymentSpec spec;
  DeploymentStatus status;
  Extra extra;

  friend bool operator==(const Deployment&, const Deployment&) = default;
};

}  // namespace codeflare::model
