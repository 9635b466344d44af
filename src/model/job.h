#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/labels.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct JobSpec {
  std::optional<std::int32_t> parallelism;
  std::optional<std::int32_t> completions;
  std::optional<std::int64_t> active_deadline_seconds;
  RawJson pod_failure_policy;
  RawJson success_policy;
  std::optional<std::int32_t> backoff_limit;
  std::optional<std::int32_t> backoff_limit_per_index;
  std::optional<std::int32_t> max_failed_indexes;
  std::optional<LabelSelector> selector;
  std::optional<bool> manual_selector;
  PodTemplateSpec pod_template;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::optional<std::string> completion_mode;  // "NonIndexed" or "Indexed"
  std::optional<bool> suspend;
  std::optional<std::string> pod_replacement_policy;
  std::optional<std::string> managed_by;
  Extra extra;

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

struct UncountedTerminatedPods {
  List<std::string> succeeded;
  List<std::string> failed;
  Extra extra;

  friend bool operator==(const UncountedTerminatedPods&, const UncountedTerminatedPods&) = default;
};

struct JobStatus {
  List<Condition> conditions;
  std::optional<Time> start_time;
  std::optional<Time> completion_time;
  std::int32_t active = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::optional<std::int32_t> terminating;
  std::string completed_indexes;
  std::optional<std::string> failed_indexes;
  std::optional<UncountedTerminatedPods> uncounted_terminated_pods;
  std::optional<std::int32_t> ready;
  Extra extra;

  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

struct Job {
  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;
  Extra extra;

  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace codeflare::model
