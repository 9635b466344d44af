#pragma once

#include "model/condition.h"
#include "model/container.h"
#include "model/container_status.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/placement.h"
#include "model/reference.h"
#include "model/resource_list.h"
#include "model/volume.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct HostAlias {
  std::string ip;
  List<std::string> hostnames;
  Extra extra;

  friend bool operator==(const HostAlias&, const HostAlias&) = default;
};

struct PodReadinessGate {
  std::string condition_type;
  Extra extra;

  friend bool operator==(const PodReadinessGate&, const PodReadinessGate&) = default;
};

struct PodSchedulingGate {
  std::string name;
  Extra extra;

  friend bool operator==(const PodSchedulingGate&, const PodSchedulingGate&) = default;
};

struct PodSpec {
  List<Volume> volumes;
  List<Container> init_containers;
  List<Container> containers;
  std::string restart_policy;  // "Always" when empty, "OnFailure", "Never"
  std::optional<std::int64_t> termination_grace_period_seconds;
  std::optional<std::int64_t> active_deadline_seconds;
  std::string dns_policy;
  StringMap node_selector;
  std::string service_account_name;
  std::optional<bool> automount_service_account_token;
  std::string node_name;
  bool host_network = false;
  bool host_pid = false;
  bool host_ipc = false;
  std::optional<bool> share_process_namespace;
  RawJson security_context;
  List<LocalObjectReference> image_pull_secrets;
  std::string hostname;
  std::string subdomain;
  std::optional<Affinity> affinity;
  std::string scheduler_name;
  List<Toleration> tolerations;
  List<HostAlias> host_aliases;
  std::string priority_class_name;
  std::optional<std::int32_t> priority;
  List<PodReadinessGate> readiness_gates;
  std::optional<std::string> runtime_class_name;
  std::optional<bool> enable_service_links;
  std::optional<std::string> preemption_policy;
  ResourceList overhead;
  List<TopologySpreadConstraint> topology_spread_constraints;
  std::optional<bool> set_hostname_as_fqdn;
  List<PodSchedulingGate> scheduling_gates;
  // For the pod as a whole; its requests replace the sum over the containers.
  std::optional<ResourceRequirements> resources;
  Extra extra;

  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

struct HostIp {
  std::string ip;
  Extra extra;

  friend bool operator==(const HostIp&, const HostIp&) = default;
};

struct PodIp {
  std::string ip;
  Extra extra;

  friend bool operator==(const PodIp&, const PodIp&) = default;
};

struct PodStatus {
  std::int64_t observed_generation = 0;
  std::string phase;  // "Pending", "Running", "Succeeded", "Failed", "Unknown"
  List<Condition> conditions;
  std::string message;
  std::string reason;
  std::string nominated_node_name;
  std::string host_ip;
  List<HostIp> host_ips;
  std::string pod_ip;
  List<PodIp> pod_ips;
  std::optional<Time> start_time;
  List<ContainerStatus> init_container_statuses;
  List<ContainerStatus> container_statuses;
  std::string qos_class;
  Extra extra;

  friend bool operator==(const PodStatus&, const PodStatus&) = default;
};

struct Pod {
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
  Extra extra;

  friend bool operator==(const Pod&, const Pod&) = default;
};

struct PodTemplateSpec {
  ObjectMeta metadata;
  PodSpec spec;
  Extra extra;

  friend bool operator==(const PodTemplateSpec&, const PodTemplateSpec&) = default;
};

}  // namespace codeflare::model
