#include "model/codec/ray_job.h"

#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/codec/pod.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<RaySubmitterConfig>) {
  static constexpr Field kFields[] = {
      field<&RaySubmitterConfig::backoff_limit>("backoffLimit"),
  };
  static constexpr StructInfo kInfo = struct_info<RaySubmitterConfig>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayJobSpec>) {
  static constexpr Field kFields[] = {
      field<&RayJobSpec::active_deadline_seconds>("activeDeadlineSeconds"),
      field<&RayJobSpec::backoff_limit>("backoffLimit"),
      field<&RayJobSpec::ray_cluster_spec>("rayClusterSpec"),
      field<&RayJobSpec::submitter_pod_template>("submitterPodTemplate"),
      field<&RayJobSpec::metadata>("metadata"),
      field<&RayJobSpec::cluster_selector>("clusterSelector"),
      field<&RayJobSpec::submitter_config>("submitterConfig"),
      field<&RayJobSpec::managed_by>("managedBy"),
      field<&RayJobSpec::deletion_strategy>("deletionStrategy"),
      field<&RayJobSpec::entrypoint>("entrypoint"),
      field<&RayJobSpec::runtime_env_yaml>("runtimeEnvYAML"),
      field<&RayJobSpec::job_id>("jobId"),
      field<&RayJobSpec::submission_mode>("submissionMode"),
      field<&RayJobSpec::entrypoint_resources>("entrypointResources"),
      field<&RayJobSpec::entrypoint_num_cpus>("entrypointNumCpus"),
      field<&RayJobSpec::entrypoint_num_gpus>("entrypointNumGpus"),
      field<&RayJobSpec::ttl_seconds_after_finished>("ttlSecondsAfterFinished"),
      field<&RayJobSpec::shutdown_after_job_finishes>("shutdownAfterJobFinishes"),
      field<&RayJobSpec::suspend>("suspend"),
  };
  static constexpr StructInfo kInfo = struct_info<RayJobSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayJobTimes>) {
  static constexpr Field kFields[] = {
      field<&RayJobTimes::start_time>("startTime"),
      field<&RayJobTimes::end_time>("endTime"),
  };
  static constexpr StructInfo kInfo = struct_info<RayJobTimes>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayJobStatus>) {
  static constexpr Field kFields[] = {
      field<&RayJobStatus::ray_job_info>("rayJobInfo"),
      field<&RayJobStatus::job_id>("jobId"),
      field<&RayJobStatus::ray_cluster_name>("rayClusterName"),
      field<&RayJobStatus::dashboard_url>("dashboardURL"),
      field<&RayJobStatus::job_status>("jobStatus"),
      field<&RayJobStatus::job_deployment_status>("jobDeploymentStatus"),
      field<&RayJobStatus::reason>("reason"),
      field<&RayJobStatus::message>("message"),
      field<&RayJobStatus::start_time>("startTime"),
      field<&RayJobStatus::end_time>("endTime"),
      field<&RayJobStatus::succeeded>("succeeded"),
      field<&RayJobStatus::failed>("failed"),
      field<&RayJobStatus::ray_cluster_status>("rayClusterStatus"),
      field<&RayJobStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<RayJobStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayJob>) {
  static constexpr Field kFields[] = {
      field<&RayJob::metadata>("metadata"),
      field<&RayJob::spec>("spec"),
      field<&RayJob::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<RayJob>(kFields);
  return kInfo;
}

}  // namespace codeflare::model
