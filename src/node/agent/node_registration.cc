#include "node/agent/node_registration.h"

#include "base/async/sleep.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "model/codec/node.h"
#include "model/condition.h"
#include "model/resource_name.h"
#include "model/resources.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::node {

namespace {

using model::Condition;
using model::Node;

constexpr Duration kRenewEvery = std::chrono::seconds(10);
constexpr int kRenewalsPerReport = 30;  // five minutes
constexpr std::int32_t kLeaseSeconds = 40;
constexpr const char* kLeaseNamespace = "kube-node-lease";
// For those who read that the system forbids something; docs/up.md says the same.
constexpr std::string_view kHowToIsolate =
    "; to change that: sysctl user.max_user_namespaces above 0 and, where they exist, "
    "kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0; in "
    "Docker --security-opt seccomp=unconfined --security-opt systempaths=unconfined";
constexpr std::string_view kHowToNetwork =
    "; to change that: sysctl user.max_net_namespaces above 0, and a kernel with veth and bridge";

WallTime whole(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

void set(Node& node, std::string type, bool holds, std::string reason, std::string message,
         WallTime now) {
  model::set_condition(node.status.conditions,
                       Condition{.type = type,
                                 .status = holds ? "True" : "False",
                                 .reason = std::move(reason),
                                 .message = std::move(message)},
                       whole(now));
  if (Condition* condition = model::find_condition(node.status.conditions, type)) {
    condition->last_heartbeat_time = whole(now);
  }
}

// Also what to do about it, where that is known.
std::string why_no_network(const NodeDescription& about) {
  if (about.no_network.empty() || !about.network_forbidden) {
    return about.no_network.empty() ? "" : ": " + about.no_network;
  }
  const std::string_view how = about.not_isolated.empty() ? kHowToNetwork : kHowToIsolate;
  return ": " + about.no_network + std::string(how);
}

void set_conditions(Node& node, const NodeDescription& about, WallTime now) {
  set(node, "MemoryPressure", false, "KubeletHasSufficientMemory",
      "kubelet has sufficient memory available", now);
  set(node, "DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure", now);
  set(node, "PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available",
      now);
  set(node, "Ready", true, "KubeletReady", "pods on this node are processes of this machine", now);
  const bool isolated = about.not_isolated.empty();
  set(node, "PodIsolation", isolated, isolated ? "Namespaces" : "PlainProcesses",
      isolated ? "pods have user, mount, PID and IPC namespaces of their own"
               : "pods are plain processes of the user: " + about.not_isolated +
                     std::string(kHowToIsolate),
      now);
  const bool kept = about.soft_limits.empty();
  set(node, "ResourceLimits", kept, kept ? "ControlGroups" : "Soft",
      kept ? "the kernel keeps the limits of containers"
           : "limits are soft: memory is looked at twice a second, cpu is shared by niceness: " +
                 about.soft_limits,
      now);
  const bool networked = !about.pod_block.empty();
  set(node, "PodNetwork", networked, networked ? "Bridge" : "HostNetwork",
      networked ? "pods have addresses of their own in " + about.pod_block
                : "pods share the machine's network" + why_no_network(about),
      now);
}

// Additions of others stay; our own values count.
void bring_up_to_date(Node& node, const Node& wanted, const NodeDescription& about, WallTime now) {
  model::renew_extras(node, wanted);
  node.status.addresses = wanted.status.addresses;
  node.status.node_info = wanted.status.node_info;
  node.status.daemon_endpoints = wanted.status.daemon_endpoints;
  set_conditions(node, about, now);
}

// Extended resources that others wrote into the capacity become allocatable, as with a kubelet, and
// those they removed are not any more. Resources of `wanted` are the node's own affair.
bool offer_extended_resources(Node& node, const Node& wanted) {
  const auto own = [&](const std::string& name) {
    return !model::is_extended_resource(name) || wanted.status.capacity.find(name) != nullptr;
  };
  model::ResourceList offered;
  for (const auto& [name, amount] : node.status.allocatable) {
    if (own(name)) {
      offered.set(name, amount);
    }
  }
  for (const auto& [name, amount] : node.status.capacity) {
    if (!own(name)) {
      offered.set(name, amount);
    }
  }
  const bool changed = !(offered == node.status.allocatable);
  node.status.allocatable = std::move(offered);
  return changed;
}

// Writes conditions when they are `due`, and what has changed at once.
Task<Result<void>> report(Env env, kube::Client& client, const NodeDescription& about, bool due) {
  kube::Api<Node> nodes(client);
  CO_TRY_ASSIGN(Node node, co_await nodes.get(about.name));
  const bool changed = offer_extended_resources(node, node_object(about, env.clock.wall()));
  if (!changed && !due) {
    co_return Result<void>();
  }
  set_conditions(node, about, env.clock.wall());
  CO_TRY(co_await nodes.update_status(std::move(node)));
  co_return Result<void>();
}

Task<Result<void>> renew_lease(Env env, kube::Client& client, const std::string& name) {
  kube::Api<model::Lease> leases(client, kLeaseNamespace);
  Result<model::Lease> known = co_await leases.get(name);
  if (!known && known.error().code != ErrorCode::not_found) {
    co_return fail(std::move(known).error());
  }
  model::Lease lease = known ? *std::move(known) : model::Lease();
  const bool fresh = lease.metadata.name.empty();
  lease.metadata.name = name;
  lease.metadata.ns = kLeaseNamespace;
  lease.spec.holder_identity = name;
  lease.spec.lease_duration_seconds = kLeaseSeconds;
  lease.spec.renew_time = model::MicroTime{env.clock.wall()};
  if (fresh) {
    CO_TRY(co_await leases.create(std::move(lease)));
  } else {
    CO_TRY(co_await leases.update(std::move(lease)));
  }
  co_return Result<void>();
}

}  // namespace

Node node_object(const NodeDescription& about, WallTime now) {
  Node node;
  node.metadata.name = about.name;
  const std::string& architecture = about.machine.architecture;
  node.metadata.labels = {
      {"beta.kubernetes.io/arch", architecture}, {"beta.kubernetes.io/os", "linux"},
      {std::string(kProcessLabel), "true"},      {"kubernetes.io/arch", architecture},
      {"kubernetes.io/hostname", about.name},    {"kubernetes.io/os", "linux"}};
  if (!about.pod_block.empty() && about.has_claim) {
    node.spec.pod_cidr = about.pod_block;
    node.spec.pod_cidrs = {about.pod_block};
  }
  node.spec.taints = about.taints;
  node.status.capacity = about.capacity;
  node.status.allocatable = about.capacity;
  model::add_extras(node, about.extras);
  node.status.addresses = {{.type = "InternalIP", .address = about.address},
                           {.type = "Hostname", .address = about.name}};
  if (about.kubelet_port > 0) {
    node.status.daemon_endpoints.emplace().kubelet_endpoint.emplace().port = about.kubelet_port;
  }
  model::NodeSystemInfo& info = node.status.node_info.emplace();
  info.machine_id = about.machine.id;
  info.kernel_version = about.machine.kernel;
  info.os_image = about.machine.os_image;
  info.architecture = architecture;
  info.operating_system = "linux";
  info.kubelet_version = about.version;
  info.container_runtime_version = "codeflare://" + about.version;
  set_conditions(node, about, now);
  return node;
}

Task<Result<void>> register_node(Env env, kube::Client& client, NodeDescription about) {
  kube::Api<Node> nodes(client);
  const WallTime now = env.clock.wall();
  const Node wanted = node_object(about, now);
  Result<Node> known = co_await nodes.get(about.name);
  Node node;
  if (known) {
    node = *std::move(known);
  } else if (known.error().code == ErrorCode::not_found) {
    CO_TRY_ASSIGN(node, co_await nodes.create(wanted));
  } else {
    co_return fail(std::move(known).error());
  }
  Node before = node;
  bring_up_to_date(node, wanted, about, now);
  // A block that a node has is never another one.
  const bool gets_block = before.spec.pod_cidr.empty() && !wanted.spec.pod_cidr.empty();
  const bool differs = !(before.metadata.labels == node.metadata.labels &&
                         before.metadata.annotations == node.metadata.annotations);
  if (differs || gets_block) {
    Node labelled = before;
    labelled.metadata.labels = node.metadata.labels;
    labelled.metadata.annotations = node.metadata.annotations;
    if (gets_block) {
      labelled.spec.pod_cidr = wanted.spec.pod_cidr;
      labelled.spec.pod_cidrs = wanted.spec.pod_cidrs;
    }
    CO_TRY_ASSIGN(before, co_await nodes.update(std::move(labelled)));
    node.metadata = before.metadata;
  }
  if (!(before.status == node.status)) {
    CO_TRY(co_await nodes.update_status(std::move(node)));
  }
  co_return co_await renew_lease(env, client, about.name);
}

Task<void> keep_alive(Env env, kube::Client& client, NodeDescription about, Logger logger) {
  for (int turn = 1;; ++turn) {
    if (!co_await sleep_for(kRenewEvery)) {
      co_return;
    }
    Result<void> renewed = co_await renew_lease(env, client, about.name);
    if (renewed) {
      renewed = co_await report(env, client, about, turn % kRenewalsPerReport == 0);
    }
    if (!renewed && renewed.error().code != ErrorCode::cancelled) {
      logger.warn("the node could not report", {{"node", about.name}, {"error", renewed.error()}});
    }
  }
}

Task<Result<void>> report_not_ready(Env env, kube::Client& client, std::string name) {
  kube::Api<Node> nodes(client);
  CO_TRY_ASSIGN(Node node, co_await nodes.get(name));
  set(node, "Ready", false, "KubeletNotReady", "the node was stopped", env.clock.wall());
  CO_TRY(co_await nodes.update_status(std::move(node)));
  co_return Result<void>();
}

}  // namespace codeflare::node
