#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/int_or_string.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/pod.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// TrainingJob (breezeml.ai/v1): data-parallel training on minSize to maxSize equal pods.
namespace codeflare::model {

struct TrainingReplicaSpec {
  PodTemplateSpec pod_template;  // with one container `trainingjob`
  std::string restart_policy;    // Always, OnFailure, Never, ExitCode
  Extra extra;

  friend bool operator==(const TrainingReplicaSpec&, const TrainingReplicaSpec&) = default;
};

struct TrainingRunPolicy {
  std::string clean_pod_policy;  // All when empty, Running, None
  std::optional<std::int64_t> ttl_seconds_after_finished;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int32_t> backoff_limit;  // failures of the user's program; 6
  bool suspend = false;
  std::string managed_by;  // another controller's when neither empty nor ours
  Extra extra;

  friend bool operator==(const TrainingRunPolicy&, const TrainingRunPolicy&) = default;
};

struct TrainingElastic {
  std::string rdzv_backend;                               // kubernetes, etcd, c10d, static
  std::optional<std::int64_t> last_call_seconds;          // 0
  std::optional<std::int64_t> join_timeout_seconds;       // 600
  std::optional<std::int64_t> grace_period_seconds;       // 120
  std::optional<std::int64_t> scale_up_cooldown_seconds;  // the operator's own
  std::optional<std::int32_t> max_restarts;               // 3
  Extra extra;

  friend bool operator==(const TrainingElastic&, const TrainingElastic&) = default;
};

struct TrainingCheckpoint {
  std::string type;  // remote, s3, local, none
  std::optional<IntOrString> interval_seconds;
  std::optional<std::int32_t> keep;  // 2
  Extra extra;

  friend bool operator==(const TrainingCheckpoint&, const TrainingCheckpoint&) = default;
};

struct TrainingJobSpec {
  std::optional<std::int64_t> min_size;      // 1
  std::optional<std::int64_t> max_size;      // minSize
  std::optional<std::int64_t> desired_size;  // a ceiling within the bounds
  std::optional<std::int64_t> size_step;     // 1
  List<std::int64_t> sizes;                  // instead of a step: the sizes that are allowed
  std::int32_t priority = 0;
  std::string queue;      // whose share growth counts to
  std::string framework;  // pytorch when empty, tensorflow, generic
  bool inject_lattice = false;
  std::optional<IntOrString> nproc_per_node;
  TrainingReplicaSpec replica_specs;
  TrainingRunPolicy run_policy;
  TrainingElastic elastic;
  TrainingCheckpoint checkpoint;
  Extra extra;

  friend bool operator==(const TrainingJobSpec&, const TrainingJobSpec&) = default;
};

// Worker `index` has its place on the node.
struct TrainingPlace {
  std::int64_t index = 0;
  std::string node;
  Extra extra;

  friend bool operator==(const TrainingPlace&, const TrainingPlace&) = default;
};

// Which pods exist and where; docs/decisions/0014. Present as long as the job holds anything.
struct TrainingPlan {
  std::int64_t generation = 0;
  List<TrainingPlace> places;
  List<std::int64_t> leaving;  // beside the places: told to go
  std::optional<MicroTime> since;
  Extra extra;

  friend bool operator==(const TrainingPlan&, const TrainingPlan&) = default;
};

struct TrainingMember {
  std::int64_t index = 0;
  std::string pod;  // UID
  Extra extra;

  friend bool operator==(const TrainingMember&, const TrainingMember&) = default;
};

// The workers that train; docs/decisions/0014.
struct TrainingMembership {
  std::int64_t generation = 0;
  std::string reason;  // Start, Grow, Shrink, Replace, Pause, Finish
  List<TrainingMember> members;
  std::optional<MicroTime> not_after;
  Extra extra;

  friend bool operator==(const TrainingMembership&, const TrainingMembership&) = default;
};

struct TrainingRestartCounts {
  std::int64_t user = 0;     // the user's program failed
  std::int64_t infra = 0;    // a pod or node was lost
  std::int64_t scaling = 0;  // the size changed
  Extra extra;

  friend bool operator==(const TrainingRestartCounts&, const TrainingRestartCounts&) = default;
};

struct TrainingProgress {
  std::int64_t step = 0;
  std::optional<double> samples_per_second;
  std::optional<double> step_seconds;
  std::optional<double> loss;
  std::optional<std::int64_t> remaining_samples;
  std::optional<std::int64_t> saved_step;
  Extra extra;

  friend bool operator==(const TrainingProgress&, const TrainingProgress&) = default;
};

struct TrainingJobStatus {
  // Waiting, Running, Suspended, WrongConfiguration, RequeueCooldown, Completed; empty: new.
  std::string stage;
  std::string reason;
  std::string message;
  std::int64_t current_size = 0;  // pods that the plan keeps
  std::int64_t ready_size = 0;
  std::string selector;  // of its pods, for the scale subresource
  std::optional<TrainingPlan> plan;
  std::optional<TrainingMembership> membership;
  TrainingRestartCounts restart_counts;
  List<std::string> counted_pods;  // UIDs of ended pods that are in restartCounts and still exist
  std::optional<TrainingProgress> progress;
  List<Condition> conditions;
  std::optional<Time> submit_time;
  std::optional<Time> queued_time;
  std::optional<Time> start_time;  // of the current run; activeDeadlineSeconds counts from it
  std::optional<Time> last_exec_time;
  std::optional<Time> completion_time;
  std::optional<Time> not_ready_since;  // some pod of the plan has not been ready since then
  std::optional<Time> cooldown_time;    // not tried again before
  std::int64_t requeues = 0;            // in a row
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const TrainingJobStatus&, const TrainingJobStatus&) = default;
};

struct TrainingJob {
  ObjectMeta metadata;
  TrainingJobSpec spec;
  TrainingJobStatus status;
  Extra extra;

  friend bool operator==(const TrainingJob&, const TrainingJob&) = default;
};

template <>
struct ResourceTraits<TrainingJob> {
  static constexpr std::string_view group = "breezeml.ai";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "breezeml.ai/v1";
  static constexpr std::string_view kind = "TrainingJob";
  static constexpr std::string_view plural = "trainingjobs";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
