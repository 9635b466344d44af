#include "model/codec/pod.h"

#include "model/codec/container.h"
#include "model/codec/describe.h"
#include "model/codec/meta.h"
#include "model/codec/placement.h"
#include "model/codec/volume.h"
#include "model/internal/list_life.h"

namespace codeflare::model {

using codec::Field;
using codec::field;
using codec::Presence;
using codec::struct_info;
using codec::StructInfo;
using codec::Tag;

const StructInfo& describe(Tag<HostAlias>) {
  static constexpr Field kFields[] = {
      field<&HostAlias::ip>("ip", Presence::always),
      field<&HostAlias::hostnames>("hostnames"),
  };
  static constexpr StructInfo kInfo = struct_info<HostAlias>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodReadinessGate>) {
  static constexpr Field kFields[] = {
      field<&PodReadinessGate::condition_type>("conditionType", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<PodReadinessGate>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodSchedulingGate>) {
  static constexpr Field kFields[] = {
      field<&PodSchedulingGate::name>("name", Presence::always),
  };
  static constexpr StructInfo kInfo = struct_info<PodSchedulingGate>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodSpec>) {
  static constexpr Field kFields[] = {
      field<&PodSpec::volumes>("volumes"),
      field<&PodSpec::init_containers>("initContainers"),
      field<&PodSpec::containers>("containers", Presence::always),
      field<&PodSpec::restart_policy>("restartPolicy"),
      field<&PodSpec::termination_grace_period_seconds>("terminationGracePeriodSeconds"),
      field<&PodSpec::active_deadline_seconds>("activeDeadlineSeconds"),
      field<&PodSpec::dns_policy>("dnsPolicy"),
      field<&PodSpec::node_selector>("nodeSelector"),
      field<&PodSpec::service_account_name>("serviceAccountName"),
      field<&PodSpec::automount_service_account_token>("automountServiceAccountToken"),
      field<&PodSpec::node_name>("nodeName"),
      field<&PodSpec::host_network>("hostNetwork"),
      field<&PodSpec::host_pid>("hostPID"),
      field<&PodSpec::host_ipc>("hostIPC"),
      field<&PodSpec::share_process_namespace>("shareProcessNamespace"),
      field<&PodSpec::security_context>("securityContext"),
      field<&PodSpec::image_pull_secrets>("imagePullSecrets"),
      field<&PodSpec::hostname>("hostname"),
      field<&PodSpec::subdomain>("subdomain"),
      field<&PodSpec::affinity>("affinity"),
      field<&PodSpec::scheduler_name>("schedulerName"),
      field<&PodSpec::tolerations>("tolerations"),
      field<&PodSpec::host_aliases>("hostAliases"),
      field<&PodSpec::priority_class_name>("priorityClassName"),
      field<&PodSpec::priority>("priority"),
      field<&PodSpec::readiness_gates>("readinessGates"),
      field<&PodSpec::runtime_class_name>("runtimeClassName"),
      field<&PodSpec::enable_service_links>("enableServiceLinks"),
      field<&PodSpec::preemption_policy>("preemptionPolicy"),
      field<&PodSpec::overhead>("overhead"),
      field<&PodSpec::topology_spread_constraints>("topologySpreadConstraints"),
      field<&PodSpec::set_hostname_as_fqdn>("setHostnameAsFQDN"),
      field<&PodSpec::scheduling_gates>("schedulingGates"),
      field<&PodSpec::resources>("resources"),
  };
  static constexpr StructInfo kInfo = struct_info<PodSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<HostIp>) {
  static constexpr Field kFields[] = {
      field<&HostIp::ip>("ip"),
  };
  static constexpr StructInfo kInfo = struct_info<HostIp>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodIp>) {
  static constexpr Field kFields[] = {
      field<&PodIp::ip>("ip"),
  };
  static constexpr StructInfo kInfo = struct_info<PodIp>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodStatus>) {
  static constexpr Field kFields[] = {
      field<&PodStatus::observed_generation>("observedGeneration"),
      field<&PodStatus::phase>("phase"),
      field<&PodStatus::conditions>("conditions"),
      field<&PodStatus::message>("message"),
      field<&PodStatus::reason>("reason"),
      field<&PodStatus::nominated_node_name>("nominatedNodeName"),
      field<&PodStatus::host_ip>("hostIP"),
      field<&PodStatus::host_ips>("hostIPs"),
      field<&PodStatus::pod_ip>("podIP"),
      field<&PodStatus::pod_ips>("podIPs"),
      field<&PodStatus::start_time>("startTime"),
      field<&PodStatus::init_container_statuses>("initContainerStatuses"),
      field<&PodStatus::container_statuses>("containerStatuses"),
      field<&PodStatus::qos_class>("qosClass"),
  };
  static constexpr StructInfo kInfo = struct_info<PodStatus>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<Pod>) {
  static constexpr Field kFields[] = {
      field<&Pod::metadata>("metadata"),
      field<&Pod::spec>("spec"),
      field<&Pod::status>("status"),
  };
  static constexpr StructInfo kInfo = struct_info<Pod>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<PodTemplateSpec>) {
  static constexpr Field kFields[] = {
      field<&PodTemplateSpec::metadata>("metadata"),
      field<&PodTemplateSpec::spec>("spec"),
  };
  static constexpr StructInfo kInfo = struct_info<PodTemplateSpec>(kFields);
  return kInfo;
}

template struct List<HostAlias>;
template struct List<HostIp>;
template struct List<PodIp>;
template struct List<PodReadinessGate>;
template struct List<PodSchedulingGate>;

}  // namespace codeflare::model
