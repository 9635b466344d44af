#include "model/codec/container.h"

#include "model/codec/describe.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<ObjectReference>) {
  static constexpr Field kFields[] = {
      field<&ObjectReference::kind>("kind"),
      field<&ObjectReference::ns>("namespace"),
      field<&ObjectReference::name>("name"),
      field<&ObjectReference::uid>("uid"),
      field<&ObjectReference::api_version>("apiVersion"),
      field<&ObjectReference::resource_version>("resourceVersion"),
      field<&ObjectReference::field_path>("fieldPath"),
  };
  static constexpr StructInfo kInfo = struct_info<ObjectReference>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<LocalObjectReference>) {
  static constexpr Field kFields[] = {
      field<&LocalObjectReference::name>("name"),
  };
  static constexpr StructInfo kInfo = struct_info<LocalObjectReference>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerPort>) {
  static constexpr Field kFields[] = {
      field<&ContainerPort::name>("name"),
      field<&ContainerPort::host_port>("hostPort"),
      field<&ContainerPort::container_port>("containerPort", Presence::always),
      field<&ContainerPort::protocol>("protocol"),
      field<&ContainerPort::host_ip>("hostIP"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerPort>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<KeySelector>) {
  static constexpr Field kFields[] = {
      field<&KeySelector::name>("name"),
      field<&KeySelector::key>("key", Presence::always),
      field<&KeySelector::optional>("optional"),
  };
  static constexpr StructInfo kInfo = struct_info<KeySelector>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ObjectFieldSelector>) {
  static constexpr Field kFields[] = {
      field<&ObjectFieldSelector::api_version>("apiVersion"),
      field<&ObjectFieldSelector::field_path>("fieldPath", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<ObjectFieldSelector>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ResourceFieldSelector>) {
  static constexpr Field kFields[] = {
      field<&ResourceFieldSelector::container_name>("containerName"),
      field<&ResourceFieldSelector::resource>("resource", Presence::always),
      field<&ResourceFieldSelector::divisor>("divisor"),
  };
  static constexpr StructInfo kInfo = struct_info<ResourceFieldSelector>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EnvVarSource>) {
  static constexpr Field kFields[] = {
      field<&EnvVarSource::field_ref>("fieldRef"),
      field<&EnvVarSource::resource_field_ref>("resourceFieldRef"),
      field<&EnvVarSource::config_map_key_ref>("configMapKeyRef"),
      field<&EnvVarSource::secret_key_ref>("secretKeyRef"),
  };
  static constexpr StructInfo kInfo = struct_info<EnvVarSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EnvVar>) {
  static constexpr Field kFields[] = {
      field<&EnvVar::name>("name", Presence::always),
      field<&EnvVar::value>("value"),
      field<&EnvVar::value_from>("valueFrom"),
  };
  static constexpr StructInfo kInfo = struct_info<EnvVar>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EnvSource>) {
  static constexpr Field kFields[] = {
      field<&EnvSource::name>("name"),
      field<&EnvSource::optional>("optional"),
  };
  static constexpr StructInfo kInfo = struct_info<EnvSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<EnvFromSource>) {
  static constexpr Field kFields[] = {
      field<&EnvFromSource::prefix>("prefix"),
      field<&EnvFromSource::config_map_ref>("configMapRef"),
      field<&EnvFromSource::secret_ref>("secretRef"),
  };
  static constexpr StructInfo kInfo = struct_info<EnvFromSource>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ResourceRequirements>) {
  static constexpr Field kFields[] = {
      field<&ResourceRequirements::limits>("limits"),
      field<&ResourceRequirements::requests>("requests"),
  };
  static constexpr StructInfo kInfo = struct_info<ResourceRequirements>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<VolumeMount>) {
  static constexpr Field kFields[] = {
      field<&VolumeMount::name>("name", Presence::always),
      field<&VolumeMount::read_only>("readOnly"),
      field<&VolumeMount::mount_path>("mountPath", Presence::always),
      field<&VolumeMount::sub_path>("subPath"),
      field<&VolumeMount::mount_propagation>("mountPropagation"),
      field<&VolumeMount::sub_path_expr>("subPathExpr"),
  };
  static constexpr StructInfo kInfo = struct_info<VolumeMount>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ExecAction>) {
  static constexpr Field kFields[] = {
      field<&ExecAction::command>("command"),
  };
  static constexpr StructInfo kInfo = struct_info<ExecAction>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<HttpHeader>) {
  static constexpr Field kFields[] = {
      field<&HttpHeader::name>("name", Presence::always),
      field<&HttpHeader::value>("value", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<HttpHeader>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<HttpGetAction>) {
  static constexpr Field kFields[] = {
      field<&HttpGetAction::path>("path"),
      field<&HttpGetAction::port>("port", Presence::always),
      field<&HttpGetAction::host>("host"),
      field<&HttpGetAction::scheme>("scheme"),
      field<&HttpGetAction::http_headers>("httpHeaders"),
  };
  static constexpr StructInfo kInfo = struct_info<HttpGetAction>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<TcpSocketAction>) {
  static constexpr Field kFields[] = {
      field<&TcpSocketAction::port>("port", Presence::always),
      field<&TcpSocketAction::host>("host"),
  };
  static constexpr StructInfo kInfo = struct_info<TcpSocketAction>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<GrpcAction>) {
  static constexpr Field kFields[] = {
      field<&GrpcAction::port>("port", Presence::always),
      field<&GrpcAction::service>("service"),
  };
  static constexpr StructInfo kInfo = struct_info<GrpcAction>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Probe>) {
  static constexpr Field kFields[] = {
      field<&Probe::exec>("exec"),
      field<&Probe::http_get>("httpGet"),
      field<&Probe::tcp_socket>("tcpSocket"),
      field<&Probe::grpc>("grpc"),
      field<&Probe::initial_delay_seconds>("initialDelaySeconds"),
      field<&Probe::timeout_seconds>("timeoutSeconds"),
      field<&Probe::period_seconds>("periodSeconds"),
      field<&Probe::success_threshold>("successThreshold"),
      field<&Probe::failure_threshold>("failureThreshold"),
      field<&Probe::termination_grace_period_seconds>("terminationGracePeriodSeconds"),
  };
  static constexpr StructInfo kInfo = struct_info<Probe>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<SleepAction>) {
  static constexpr Field kFields[] = {
      field<&SleepAction::seconds>("seconds", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<SleepAction>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<LifecycleHandler>) {
  static constexpr Field kFields[] = {
      field<&LifecycleHandler::exec>("exec"),
      field<&LifecycleHandler::http_get>("httpGet"),
      field<&LifecycleHandler::tcp_socket>("tcpSocket"),
      field<&LifecycleHandler::sleep>("sleep"),
  };
  static constexpr StructInfo kInfo = struct_info<LifecycleHandler>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Lifecycle>) {
  static constexpr Field kFields[] = {
      field<&Lifecycle::post_start>("postStart"),
      field<&Lifecycle::pre_stop>("preStop"),
      field<&Lifecycle::stop_signal>("stopSignal"),
  };
  static constexpr StructInfo kInfo = struct_info<Lifecycle>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Container>) {
  static constexpr Field kFields[] = {
      field<&Container::name>("name", Presence::always),
      field<&Container::image>("image"),
      field<&Container::command>("command"),
      field<&Container::args>("args"),
      field<&Container::working_dir>("workingDir"),
      field<&Container::ports>("ports"),
      field<&Container::env_from>("envFrom"),
      field<&Container::env>("env"),
      field<&Container::resources>("resources"),
      field<&Container::restart_policy>("restartPolicy"),
      field<&Container::volume_mounts>("volumeMounts"),
      field<&Container::liveness_probe>("livenessProbe"),
      field<&Container::readiness_probe>("readinessProbe"),
      field<&Container::startup_probe>("startupProbe"),
      field<&Container::lifecycle>("lifecycle"),
      field<&Container::termination_message_path>("terminationMessagePath"),
      field<&Container::termination_message_policy>("terminationMessagePolicy"),
      field<&Container::image_pull_policy>("imagePullPolicy"),
      field<&Container::security_context>("securityContext"),
      field<&Container::stdin>("stdin"),
      field<&Container::stdin_once>("stdinOnce"),
      field<&Container::tty>("tty"),
  };
  static constexpr StructInfo kInfo = struct_info<Container>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerStateWaiting>) {
  static constexpr Field kFields[] = {
      field<&ContainerStateWaiting::reason>("reason"),
      field<&ContainerStateWaiting::message>("message"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerStateWaiting>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerStateRunning>) {
  static constexpr Field kFields[] = {
      field<&ContainerStateRunning::started_at>("startedAt"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerStateRunning>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerStateTerminated>) {
  static constexpr Field kFields[] = {
      field<&ContainerStateTerminated::exit_code>("exitCode", Presence::always),
      field<&ContainerStateTerminated::signal>("signal"),
      field<&ContainerStateTerminated::reason>("reason"),
      field<&ContainerStateTerminated::message>("message"),
      field<&ContainerStateTerminated::started_at>("startedAt"),
      field<&ContainerStateTerminated::finished_at>("finishedAt"),
      field<&ContainerStateTerminated::container_id>("containerID"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerStateTerminated>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerState>) {
  static constexpr Field kFields[] = {
      field<&ContainerState::waiting>("waiting"),
      field<&ContainerState::running>("running"),
      field<&ContainerState::terminated>("terminated"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerState>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerStatus>) {
  static constexpr Field kFields[] = {
      field<&ContainerStatus::name>("name", Presence::always),
      field<&ContainerStatus::state>("state"),
      field<&ContainerStatus::last_state>("lastState"),
      field<&ContainerStatus::ready>("ready", Presence::always),
      field<&ContainerStatus::restart_count>("restartCount", Presence::always),
      field<&ContainerStatus::image>("image", Presence::always),
      field<&ContainerStatus::image_id>("imageID", Presence::always),
      field<&ContainerStatus::container_id>("containerID"),
      field<&ContainerStatus::started>("started"),
      field<&ContainerStatus::allocated_resources>("allocatedResources"),
      field<&ContainerStatus::resources>("resources"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerStatus>(kFields);
  return kInfo;
}

template struct List<Container>;
template struct List<ContainerPort>;
template struct List<ContainerStatus>;
template struct List<EnvFromSource>;
template struct List<EnvVar>;
template struct List<HttpHeader>;
template struct List<LocalObjectReference>;
template struct List<ObjectReference>;
template struct List<VolumeMount>;

}  // namespace codeflare::model
