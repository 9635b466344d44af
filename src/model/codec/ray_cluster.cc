#include "model/codec/ray_cluster.h"

#include "model/codec/container.h"
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

const StructInfo& describe(Tag<RayScaleStrategy>) {
  static constexpr Field kFields[] = {
      field<&RayScaleStrategy::workers_to_delete>("workersToDelete"),
  };
  static constexpr StructInfo kInfo = struct_info<RayScaleStrategy>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayHeadGroup>) {
  static constexpr Field kFields[] = {
      field<&RayHeadGroup::pod_template>("template", Presence::always),
      field<&RayHeadGroup::head_service>("headService"),
      field<&RayHeadGroup::enable_ingress>("enableIngress"),
      field<&RayHeadGroup::resources>("resources"),
      field<&RayHeadGroup::labels>("labels"),
      field<&RayHeadGroup::ray_start_params>("rayStartParams"),
      field<&RayHeadGroup::service_type>("serviceType"),
  };
  static constexpr StructInfo kInfo = struct_info<RayHeadGroup>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayWorkerGroup>) {
  static constexpr Field kFields[] = {
      field<&RayWorkerGroup::suspend>("suspend"),
      field<&RayWorkerGroup::group_name>("groupName", Presence::always),
      field<&RayWorkerGroup::replicas>("replicas"),
      field<&RayWorkerGroup::min_replicas>("minReplicas"),
      field<&RayWorkerGroup::max_replicas>("maxReplicas"),
      field<&RayWorkerGroup::idle_timeout_seconds>("idleTimeoutSeconds"),
      field<&RayWorkerGroup::resources>("resources"),
      field<&RayWorkerGroup::labels>("labels"),
      field<&RayWorkerGroup::ray_start_params>("rayStartParams"),
      field<&RayWorkerGroup::pod_template>("template", Presence::always),
      field<&RayWorkerGroup::scale_strategy>("scaleStrategy"),
      field<&RayWorkerGroup::num_of_hosts>("numOfHosts"),
  };
  static constexpr StructInfo kInfo = struct_info<RayWorkerGroup>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayAutoscalerOptions>) {
  static constexpr Field kFields[] = {
      field<&RayAutoscalerOptions::resources>("resources"),
      field<&RayAutoscalerOptions::image>("image"),
      field<&RayAutoscalerOptions::image_pull_policy>("imagePullPolicy"),
  };
  static constexpr StructInfo kInfo = struct_info<RayAutoscalerOptions>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayClusterSpec>) {
  static constexpr Field kFields[] = {
      field<&RayClusterSpec::suspend>("suspend"),
      field<&RayClusterSpec::managed_by>("managedBy"),
      field<&RayClusterSpec::autoscaler_options>("autoscalerOptions"),
      field<&RayClusterSpec::head_service_annotations>("headServiceAnnotations"),
      field<&RayClusterSpec::enable_in_tree_autoscaling>("enableInTreeAutoscaling"),
      field<&RayClusterSpec::head_group>("headGroupSpec", Presence::always),
      field<&RayClusterSpec::ray_version>("rayVersion"),
      field<&RayClusterSpec::worker_groups>("workerGroupSpecs"),
  };
  static constexpr StructInfo kInfo = struct_info<RayClusterSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayHeadInfo>) {
  static constexpr Field kFields[] = {
      field<&RayHeadInfo::pod_ip>("podIP"),
      field<&RayHeadInfo::service_ip>("serviceIP"),
      field<&RayHeadInfo::pod_name>("podName"),
      field<&RayHeadInfo::service_name>("serviceName"),
  };
  static constexpr StructInfo kInfo = struct_info<RayHeadInfo>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayClusterStatus>) {
  static constexpr Field kFields[] = {
      field<&RayClusterStatus::state>("state"),
      field<&RayClusterStatus::desired_cpu>("desiredCPU"),
      field<&RayClusterStatus::desired_memory>("desiredMemory"),
      field<&RayClusterStatus::desired_gpu>("desiredGPU"),
      field<&RayClusterStatus::desired_tpu>("desiredTPU"),
      field<&RayClusterStatus::last_update_time>("lastUpdateTime"),
      field<&RayClusterStatus::state_transition_times>("stateTransitionTimes"),
      field<&RayClusterStatus::endpoints>("endpoints"),
      field<&RayClusterStatus::head>("head"),
      field<&RayClusterStatus::reason>("reason"),
      field<&RayClusterStatus::conditions>("conditions"),
      field<&RayClusterStatus::ready_worker_replicas>("readyWorkerReplicas"),
      field<&RayClusterStatus::available_worker_replicas>("availableWorkerReplicas"),
      field<&RayClusterStatus::desired_worker_replicas>("desiredWorkerReplicas"),
      field<&RayClusterStatus::min_worker_replicas>("minWorkerReplicas"),
      field<&RayClusterStatus::max_worker_replicas>("maxWorkerReplicas"),
      field<&RayClusterStatus::observed_generation>("observedGeneration"),
  };
  static constexpr StructInfo kInfo = struct_info<RayClusterStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RayCluster>) {
  static constexpr Field kFields[] = {
      field<&RayCluster::metadata>("metadata"),
      field<&RayCluster::spec>("spec"),
      field<&RayCluster::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<RayCluster>(kFields);
  return kInfo;
}

template struct List<RayWorkerGroup>;

}  // namespace codeflare::model
