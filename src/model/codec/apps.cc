#include "model/codec/apps.h"

#include "model/codec/core.h"
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

const StructInfo& describe(Tag<RollingUpdateDeployment>) {
  static constexpr Field kFields[] = {
      field<&RollingUpdateDeployment::max_unavailable>("maxUnavailable"),
      field<&RollingUpdateDeployment::max_surge>("maxSurge"),
  };
  static constexpr StructInfo kInfo = struct_info<RollingUpdateDeployment>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DeploymentStrategy>) {
  static constexpr Field kFields[] = {
      field<&DeploymentStrategy::type>("type"),
      field<&DeploymentStrategy::rolling_update>("rollingUpdate"),
  };
  static constexpr StructInfo kInfo = struct_info<DeploymentStrategy>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DeploymentSpec>) {
  static constexpr Field kFields[] = {
      field<&DeploymentSpec::replicas>("replicas"),
      field<&DeploymentSpec::selector>("selector"),
      field<&DeploymentSpec::pod_template>("template", Presence::always),
      field<&DeploymentSpec::strategy>("strategy"),
      field<&DeploymentSpec::min_ready_seconds>("minReadySeconds"),
      field<&DeploymentSpec::revision_history_limit>("revisionHistoryLimit"),
      field<&DeploymentSpec::paused>("paused"),
      field<&DeploymentSpec::progress_deadline_seconds>("progressDeadlineSeconds"),
  };
  static constexpr StructInfo kInfo = struct_info<DeploymentSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DeploymentStatus>) {
  static constexpr Field kFields[] = {
      field<&DeploymentStatus::observed_generation>("observedGeneration"),
      field<&DeploymentStatus::replicas>("replicas"),
      field<&DeploymentStatus::updated_replicas>("updatedReplicas"),
      field<&DeploymentStatus::ready_replicas>("readyReplicas"),
      field<&DeploymentStatus::available_replicas>("availableReplicas"),
      field<&DeploymentStatus::unavailable_replicas>("unavailableReplicas"),
      field<&DeploymentStatus::conditions>("conditions"),
      field<&DeploymentStatus::collision_count>("collisionCount"),
  };
  static constexpr StructInfo kInfo = struct_info<DeploymentStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Deployment>) {
  static constexpr Field kFields[] = {
      field<&Deployment::metadata>("metadata"),
      field<&Deployment::spec>("spec"),
      field<&Deployment::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Deployment>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ReplicaSetSpec>) {
  static constexpr Field kFields[] = {
      field<&ReplicaSetSpec::replicas>("replicas"),
      field<&ReplicaSetSpec::min_ready_seconds>("minReadySeconds"),
      field<&ReplicaSetSpec::selector>("selector"),
      field<&ReplicaSetSpec::pod_template>("template"),
  };
  static constexpr StructInfo kInfo = struct_info<ReplicaSetSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ReplicaSetStatus>) {
  static constexpr Field kFields[] = {
      field<&ReplicaSetStatus::replicas>("replicas", Presence::always),
      field<&ReplicaSetStatus::fully_labeled_replicas>("fullyLabeledReplicas"),
      field<&ReplicaSetStatus::ready_replicas>("readyReplicas"),
      field<&ReplicaSetStatus::available_replicas>("availableReplicas"),
      field<&ReplicaSetStatus::observed_generation>("observedGeneration"),
      field<&ReplicaSetStatus::conditions>("conditions"),
  };
  static constexpr StructInfo kInfo = struct_info<ReplicaSetStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ReplicaSet>) {
  static constexpr Field kFields[] = {
      field<&ReplicaSet::metadata>("metadata"),
      field<&ReplicaSet::spec>("spec"),
      field<&ReplicaSet::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<ReplicaSet>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<StatefulSetSpec>) {
  static constexpr Field kFields[] = {
      field<&StatefulSetSpec::replicas>("replicas"),
      field<&StatefulSetSpec::selector>("selector"),
      field<&StatefulSetSpec::pod_template>("template", Presence::always),
      field<&StatefulSetSpec::volume_claim_templates>("volumeClaimTemplates"),
      field<&StatefulSetSpec::service_name>("serviceName", Presence::always),
      field<&StatefulSetSpec::pod_management_policy>("podManagementPolicy"),
      field<&StatefulSetSpec::update_strategy>("updateStrategy"),
      field<&StatefulSetSpec::revision_history_limit>("revisionHistoryLimit"),
      field<&StatefulSetSpec::min_ready_seconds>("minReadySeconds"),
  };
  static constexpr StructInfo kInfo = struct_info<StatefulSetSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<StatefulSetStatus>) {
  static constexpr Field kFields[] = {
      field<&StatefulSetStatus::observed_generation>("observedGeneration"),
      field<&StatefulSetStatus::replicas>("replicas", Presence::always),
      field<&StatefulSetStatus::ready_replicas>("readyReplicas"),
      field<&StatefulSetStatus::current_replicas>("currentReplicas"),
      field<&StatefulSetStatus::updated_replicas>("updatedReplicas"),
      field<&StatefulSetStatus::current_revision>("currentRevision"),
      field<&StatefulSetStatus::update_revision>("updateRevision"),
      field<&StatefulSetStatus::collision_count>("collisionCount"),
      field<&StatefulSetStatus::conditions>("conditions"),
      field<&StatefulSetStatus::available_replicas>("availableReplicas", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<StatefulSetStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<StatefulSet>) {
  static constexpr Field kFields[] = {
      field<&StatefulSet::metadata>("metadata"),
      field<&StatefulSet::spec>("spec"),
      field<&StatefulSet::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<StatefulSet>(kFields);
  return kInfo;
}

}  // namespace codeflare::model
