#include "model/codec/job.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/codec/pod.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<JobSpec>) {
  static constexpr Field kFields[] = {
      field<&JobSpec::parallelism>("parallelism"),
      field<&JobSpec::completions>("completions"),
      field<&JobSpec::active_deadline_seconds>("activeDeadlineSeconds"),
      field<&JobSpec::pod_failure_policy>("podFailurePolicy"),
      field<&JobSpec::success_policy>("successPolicy"),
      field<&JobSpec::backoff_limit>("backoffLimit"),
      field<&JobSpec::backoff_limit_per_index>("backoffLimitPerIndex"),
      field<&JobSpec::max_failed_indexes>("maxFailedIndexes"),
      field<&JobSpec::selector>("selector"),
      field<&JobSpec::manual_selector>("manualSelector"),
      field<&JobSpec::pod_template>("template", Presence::always),
      field<&JobSpec::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
      field<&JobSpec::completion_mode>("completionMode"),
      field<&JobSpec::suspend>("suspend"),
      field<&JobSpec::pod_replacement_policy>("podReplacementPolicy"),
      field<&JobSpec::managed_by>("managedBy"),
  };
  static constexpr StructInfo kInfo = struct_info<JobSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<UncountedTerminatedPods>) {
  static constexpr Field kFields[] = {
      field<&UncountedTerminatedPods::succeeded>("succeeded"),
      field<&UncountedTerminatedPods::failed>("failed"),
  };
  static constexpr StructInfo kInfo = struct_info<UncountedTerminatedPods>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<JobStatus>) {
  static constexpr Field kFields[] = {
      field<&JobStatus::conditions>("conditions"),
      field<&JobStatus::start_time>("startTime"),
      field<&JobStatus::completion_time>("completionTime"),
      field<&JobStatus::active>("active"),
      field<&JobStatus::succeeded>("succeeded"),
      field<&JobStatus::failed>("failed"),
      field<&JobStatus::terminating>("terminating"),
      field<&JobStatus::completed_indexes>("completedIndexes"),
      field<&JobStatus::failed_indexes>("failedIndexes"),
      field<&JobStatus::uncounted_terminated_pods>("uncountedTerminatedPods"),
      field<&JobStatus::ready>("ready"),
  };
  static constexpr StructInfo kInfo = struct_info<JobStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Job>) {
  static constexpr Field kFields[] = {
      field<&Job::metadata>("metadata"),
      field<&Job::spec>("spec"),
      field<&Job::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Job>(kFields);
  return kInfo;
}

}  // namespace codeflare::model
