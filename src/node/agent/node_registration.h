#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/node.h"
#include "model/node_extras.h"
#include "node/agent/machine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace codeflare::node {

// Marks nodes that run pods as processes, for selectors.
inline constexpr std::string_view kProcessLabel = "codeflare.dev/process-node";

struct NodeDescription {
  std::string name;
  std::string address;
  std::string pod_block{};         // where addresses of pods are taken from; empty: pods have none
  std::string no_network{};        // why they have none
  bool network_forbidden = false;  // that is what the kernel answered
  bool has_claim = true;           // to that block in all of the cluster, which its Node says then
  model::ResourceList capacity;
  Machine machine;
  std::string version;                 // of this program
  std::string not_isolated;            // why pods are plain processes; empty: they are not
  std::string soft_limits;             // why the kernel does not keep limits; empty: it does
  std::vector<model::Taint> taints{};  // that it is registered with; later they are others' affair
  model::NodeExtras extras{};
  std::int32_t kubelet_port = 0;  // where it serves logs and streams of its pods; 0: nowhere
};

// The Node as it is registered.
model::Node node_object(const NodeDescription& description, WallTime now);

// Creates the Node or brings an earlier one up to date.
Task<Result<void>> register_node(Env env, kube::Client& client, NodeDescription description);

// Until stopped: renews the node's Lease every ten seconds, makes extended resources that others
// wrote into the capacity allocatable at the same pace, renews the conditions every five minutes.
Task<void> keep_alive(Env env, kube::Client& client, NodeDescription description, Logger logger);

// Says that the node is not ready any more: nobody is there to run pods.
Task<Result<void>> report_not_ready(Env env, kube::Client& client, std::string name);

}  // namespace codeflare::node
