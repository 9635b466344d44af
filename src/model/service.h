#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/int_or_string.h"
#include "model/list.h"
#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct ServicePort {
  std::string name;
  std::string protocol;  // "TCP" when empty
  std::optional<std::string> app_protocol;
  std::int32_t port = 0;
  // The port itself when absent.
  std::optional<IntOrString> target_port;
  std::int32_t node_port = 0;
  Extra extra;

  friend bool operator==(const ServicePort&, const ServicePort&) = default;
};

struct ServiceSpec {
  List<ServicePort> ports;
  StringMap selector;
  std::string cluster_ip;  // "None" for a headless service
  List<std::string> cluster_ips;
  std::string type;  // "ClusterIP" when empty
  List<std::string> external_ips;
  std::string session_affinity;
  std::string external_name;
  bool publish_not_ready_addresses = false;
  List<std::string> ip_families;
  std::optional<std::string> ip_family_policy;
  std::optional<std::string> internal_traffic_policy;
  Extra extra;

  friend bool operator==(const ServiceSpec&, const ServiceSpec&) = default;
};

struct LoadBalancerIngress {
  std::string ip;
  std::string hostname;
  Extra extra;

  friend bool operator==(const LoadBalancerIngress&, const LoadBalancerIngress&) = default;
};

struct LoadBalancerStatus {
  List<LoadBalancerIngress> ingress;
  Extra extra;

  friend bool operator==(const LoadBalancerStatus&, const LoadBalancerStatus&) = default;
};

struct ServiceStatus {
  LoadBalancerStatus load_balancer;
  List<Condition> conditions;
  Extra extra;

  friend bool operator==(const ServiceStatus&, const ServiceStatus&) = default;
};

struct Service {
  ObjectMeta metadata;
  ServiceSpec spec;
  ServiceStatus status;
  Extra extra;

  friend bool operator==(const Service&, const Service&) = default;
};

}  // namespace codeflare::model
