#pragma once

#include "model/extra.h"
#include "model/int_or_string.h"
#include "model/list.h"
#include "model/quantity.h"
#include "model/resource_list.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::model {

struct ContainerPort {
  std::string name;
  std::int32_t host_port = 0;
  std::int32_t container_port = 0;
  std::string protocol;  // "TCP" when empty
  std::string host_ip;
  Extra extra;

  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

// One key of a ConfigMap or Secret.
struct KeySelector {
  std::string name;
  std::string key;
  std::optional<bool> optional;
  Extra extra;

  friend bool operator==(const KeySelector&, const KeySelector&) = default;
};

struct ObjectFieldSelector {
  std::string api_version;
  std::string field_path;  // "metadata.name"
  Extra extra;

  friend bool operator==(const ObjectFieldSelector&, const ObjectFieldSelector&) = default;
};

struct ResourceFieldSelector {
  std::string container_name;
  std::string resource;  // "limits.cpu"
  std::optional<Quantity> divisor;
  Extra extra;

  friend bool operator==(const ResourceFieldSelector&, const ResourceFieldSelector&) = default;
};

struct EnvVarSource {
  std::optional<ObjectFieldSelector> field_ref;
  std::optional<ResourceFieldSelector> resource_field_ref;
  std::optional<KeySelector> config_map_key_ref;
  std::optional<KeySelector> secret_key_ref;
  Extra extra;

  friend bool operator==(const EnvVarSource&, const EnvVarSource&) = default;
};

struct EnvVar {
  std::string name;
  std::string value;
  std::optional<EnvVarSource> value_from;
  Extra extra;

  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

// All keys of a ConfigMap or Secret.
struct EnvSource {
  std::string name;
  std::optional<bool> optional;
  Extra extra;

  friend bool operator==(const EnvSource&, const EnvSource&) = default;
};

struct EnvFromSource {
  std::string prefix;
  std::optional<EnvSource> config_map_ref;
  std::optional<EnvSource> secret_ref;
  Extra extra;

  friend bool operator==(const EnvFromSource&, const EnvFromSource&) = default;
};

struct ResourceRequirements {
  ResourceList limits;
  ResourceList requests;
  Extra extra;

  friend bool operator==(const ResourceRequirements&, const ResourceRequirements&) = default;
};

struct VolumeMount {
  std::string name;
  bool read_only = false;
  std::string mount_path;
  std::string sub_path;
  std::string mount_propagation;
  std::string sub_path_expr;
  Extra extra;

  friend bool operator==(const VolumeMount&, const VolumeMount&) = default;
};

struct ExecAction {
  List<std::string> command;
  Extra extra;

  friend bool operator==(const ExecAction&, const ExecAction&) = default;
};

struct HttpHeader {
  std::string name;
  std::string value;
  Extra extra;

  friend bool operator==(const HttpHeader&, const HttpHeader&) = default;
};

struct HttpGetAction {
  std::string path;
  IntOrString port;
  std::string host;
  std::string scheme;  // "HTTP" when empty
  List<HttpHeader> http_headers;
  Extra extra;

  friend bool operator==(const HttpGetAction&, const HttpGetAction&) = default;
};

struct TcpSocketAction {
  IntOrString port;
  std::string host;
  Extra extra;

  friend bool operator==(const TcpSocketAction&, const TcpSocketAction&) = default;
};

struct GrpcAction {
  std::int32_t port = 0;
  std::optional<std::string> service;
  Extra extra;

  friend bool operator==(const GrpcAction&, const GrpcAction&) = default;
};

// Zero means the default of the API: timeout 1, period 10, success 1, failure 3.
struct Probe {
  std::optional<ExecAction> exec;
  std::optional<HttpGetAction> http_get;
  std::optional<TcpSocketAction> tcp_socket;
  std::optional<GrpcAction> grpc;
  std::int32_t initial_delay_seconds = 0;
  std::int32_t timeout_seconds = 0;
  std::int32_t period_seconds = 0;
  std::int32_t success_threshold = 0;
  std::int32_t failure_threshold = 0;
  std::optional<std::int64_t> termination_grace_period_seconds;
  Extra extra;

  friend bool operator==(const Probe&, const Probe&) = default;
};

struct SleepAction {
  std::int64_t seconds = 0;
  Extra extra;

  friend bool operator==(const SleepAction&, const SleepAction&) = default;
};

struct LifecycleHandler {
  std::optional<ExecAction> exec;
  std::optional<HttpGetAction> http_get;
  std::optional<TcpSocketAction> tcp_socket;
  std::optional<SleepAction> sleep;
  Extra extra;

  friend bool operator==(const LifecycleHandler&, const LifecycleHandler&) = default;
};

struct Lifecycle {
  std::optional<LifecycleHandler> post_start;
  std::optional<LifecycleHandler> pre_stop;
  std::optional<std::string> stop_signal;
  Extra extra;

  friend bool operator==(const Lifecycle&, const Lifecycle&) = default;
};

struct Container {
  std::string name;
  std::string image;
  List<std::string> command;
  List<std::string> args;
  std::string working_dir;
  List<ContainerPort> ports;
  List<EnvFromSource> env_from;
  List<EnvVar> env;
  ResourceRequirements resources;
  std::string restart_policy;  // "Always" makes an init container a sidecar
  List<VolumeMount> volume_mounts;
  std::optional<Probe> liveness_probe;
  std::optional<Probe> readiness_probe;
  std::optional<Probe> startup_probe;
  std::optional<Lifecycle> lifecycle;
  std::string termination_message_path;
  std::string termination_message_policy;
  std::string image_pull_policy;
  RawJson security_context;
  bool stdin = false;
  bool stdin_once = false;
  bool tty = false;
  Extra extra;

  friend bool operator==(const Container&, const Container&) = default;
};

}  // namespace codeflare::model
