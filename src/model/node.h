#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resource_list.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // "NoSchedule", "PreferNoSchedule", "NoExecute"
  std::optional<Time> time_added;
  Extra extra;

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct NodeSpec {
  std::string pod_cidr;
  List<std::string> pod_cidrs;
  std::string provider_id;
  bool unschedulable = false;
  List<Taint> taints;
  Extra extra;

  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

struct NodeAddress {
  std::string type;  // "InternalIP", "Hostname", ...
  std::string address;
  Extra extra;

  friend bool operator==(const NodeAddress&, const NodeAddress&) = default;
};

struct NodeSystemInfo {
  std::string machine_id;
  std::string system_uuid;
  std::string boot_id;
  std::string kernel_version;
  std::string os_image;
  std::string container_runtime_version;
  std::string kubelet_version;
  std::string kube_proxy_version;
  std::string operating_system;
  std::string architecture;
  Extra extra;

  friend bool operator==(const NodeSystemInfo&, const NodeSystemInfo&) = default;
};

struct DaemonEndpoint {
  std::int32_t port = 0;
  Extra extra;

  friend bool operator==(const DaemonEndpoint&, const DaemonEndpoint&) = default;
};

struct NodeDaemonEndpoints {
  std::optional<DaemonEndpoint> kubelet_endpoint;
  Extra extra;

  friend bool operator==(const NodeDaemonEndpoints&, const NodeDaemonEndpoints&) = default;
};

struct ContainerImage {
  List<std::string> names;
  std::int64_t size_bytes = 0;
  Extra extra;

  friend bool operator==(const ContainerImage&, const ContainerImage&) = default;
};

struct NodeStatus {
  ResourceList capacity;
  ResourceList allocatable;
  std::string phase;
  List<Condition> conditions;
  List<NodeAddress> addresses;
  std::optional<NodeDaemonEndpoints> daemon_endpoints;
  std::optional<NodeSystemInfo> node_info;
  List<ContainerImage> images;
  Extra extra;

  friend bool operator==(const NodeStatus&, const NodeStatus&) = default;
};

struct Node {
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
  Extra extra;

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace codeflare::model
