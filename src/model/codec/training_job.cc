#include "model/codec/training_job.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/codec/pod.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<TrainingReplicaSpec>) {
  static constexpr Field kFields[] = {
      field<&TrainingReplicaSpec::pod_template>("template", Presence::always),
      field<&TrainingReplicaSpec::restart_policy>("restartPolicy"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingReplicaSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingRunPolicy>) {
  static constexpr Field kFields[] = {
      field<&TrainingRunPolicy::clean_pod_policy>("cleanPodPolicy"),
      field<&TrainingRunPolicy::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
      field<&TrainingRunPolicy::active_deadline_seconds>("activeDeadlineSeconds"),
      field<&TrainingRunPolicy::backoff_limit>("backoffLimit"),
      field<&TrainingRunPolicy::suspend>("suspend"),
      field<&TrainingRunPolicy::managed_by>("managedBy"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingRunPolicy>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingElastic>) {
  static constexpr Field kFields[] = {
      field<&TrainingElastic::rdzv_backend>("rdzvBackend"),
      field<&TrainingElastic::last_call_seconds>("lastCallSeconds"),
      field<&TrainingElastic::join_timeout_seconds>("joinTimeoutSeconds"),
      field<&TrainingElastic::grace_period_seconds>("gracePeriodSeconds"),
      field<&TrainingElastic::scale_up_cooldown_seconds>("scaleUpCooldownSeconds"),
      field<&TrainingElastic::max_restarts>("maxRestarts"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingElastic>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingCheckpoint>) {
  static constexpr Field kFields[] = {
      field<&TrainingCheckpoint::type>("type"),
      field<&TrainingCheckpoint::interval_seconds>("intervalSeconds"),
      field<&TrainingCheckpoint::keep>("keep"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingCheckpoint>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingJobSpec>) {
  static constexpr Field kFields[] = {
      field<&TrainingJobSpec::min_size>("minSize"),
      field<&TrainingJobSpec::max_size>("maxSize"),
      field<&TrainingJobSpec::desired_size>("desiredSize"),
      field<&TrainingJobSpec::size_step>("sizeStep"),
      field<&TrainingJobSpec::sizes>("sizes"),
      field<&TrainingJobSpec::priority>("priority"),
      field<&TrainingJobSpec::queue>("queue"),
      field<&TrainingJobSpec::framework>("framework"),
      field<&TrainingJobSpec::inject_lattice>("injectLattice"),
      field<&TrainingJobSpec::nproc_per_node>("nprocPerNode"),
      field<&TrainingJobSpec::replica_specs>("replicaSpecs", Presence::always),
      field<&TrainingJobSpec::run_policy>("runPolicy"),
      field<&TrainingJobSpec::elastic>("elastic"),
      field<&TrainingJobSpec::checkpoint>("checkpoint"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingJobSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingPlace>) {
  static constexpr Field kFields[] = {
      field<&TrainingPlace::index>("index", Presence::always),
      field<&TrainingPlace::node>("node"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingPlace>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingPlan>) {
  static constexpr Field kFields[] = {
      field<&TrainingPlan::generation>("generation"),
      field<&TrainingPlan::places>("places", Presence::always),
      field<&TrainingPlan::leaving>("leaving"),
      field<&TrainingPlan::since>("since"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingPlan>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingMember>) {
  static constexpr Field kFields[] = {
      field<&TrainingMember::index>("index", Presence::always),
      field<&TrainingMember::pod>("pod"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingMember>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingMembership>) {
  static constexpr Field kFields[] = {
      field<&TrainingMembership::generation>("generation"),
      field<&TrainingMembership::reason>("reason"),
      field<&TrainingMembership::members>("members", Presence::always),
      field<&TrainingMembership::not_after>("notAfter"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingMembership>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingRestartCounts>) {
  static constexpr Field kFields[] = {
      field<&TrainingRestartCounts::user>("user"),
      field<&TrainingRestartCounts::infra>("infra"),
      field<&TrainingRestartCounts::scaling>("scaling"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingRestartCounts>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingProgress>) {
  static constexpr Field kFields[] = {
      field<&TrainingProgress::step>("step"),
      field<&TrainingProgress::samples_per_second>("samplesPerSecond"),
      field<&TrainingProgress::step_seconds>("stepSeconds"),
      field<&TrainingProgress::loss>("loss"),
      field<&TrainingProgress::remaining_samples>("remainingSamples"),
      field<&TrainingProgress::saved_step>("savedStep"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingProgress>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingJobStatus>) {
  static constexpr Field kFields[] = {
      field<&TrainingJobStatus::stage>("stage"),
      field<&TrainingJobStatus::reason>("reason"),
      field<&TrainingJobStatus::message>("message"),
      field<&TrainingJobStatus::current_size>("currentSize", Presence::always),
      field<&TrainingJobStatus::ready_size>("readySize"),
      field<&TrainingJobStatus::selector>("selector"),
      field<&TrainingJobStatus::plan>("plan"),
      field<&TrainingJobStatus::membership>("membership"),
      field<&TrainingJobStatus::restart_counts>("restartCounts"),
      field<&TrainingJobStatus::counted_pods>("countedPods"),
      field<&TrainingJobStatus::progress>("progress"),
      field<&TrainingJobStatus::conditions>("conditions"),
      field<&TrainingJobStatus::submit_time>("submitTime"),
      field<&TrainingJobStatus::queued_time>("queuedTime"),
      field<&TrainingJobStatus::start_time>("startTime"),
      field<&TrainingJobStatus::last_exec_time>("lastExecTime"),
      field<&TrainingJobStatus::completion_time>("completionTime"),
      field<&TrainingJobStatus::not_ready_since>("notReadySince"),
      field<&TrainingJobStatus::cooldown_time>("cooldownTime"),
      field<&TrainingJobStatus::requeues>("requeues"),
      field<&TrainingJobStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingJobStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TrainingJob>) {
  static constexpr Field kFields[] = {
      field<&TrainingJob::metadata>("metadata"),
      field<&TrainingJob::spec>("spec"),
      field<&TrainingJob::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<TrainingJob>(kFields);
  return kInfo;
}

template struct List<std::int64_t>;
template struct List<TrainingPlace>;
template struct List<TrainingMember>;

}  // namespace codeflare::model
