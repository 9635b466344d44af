#pragma once

#include "apiserver/server/api_server.h"
#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/scale/scale_controllers.h"
#include "model/machine_type.h"
#include "net/http.h"
#include "node/agent/image_table.h"
#include "node/agent/log_reader.h"
#include "node/agent/node_registration.h"
#include "node/agent/pod_network.h"
#include "node/agent/pod_runtime.h"
#include "node/agent/probe_check.h"
#include "node/stream/pod_streams.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::up {

// A node whose pods are processes of this machine.
struct ProcessNode {
  node::NodeDescription about;
  // More of them, which share the machine: each promises its own capacity.
  std::vector<node::NodeDescription> others{};
  // Where its pods have addresses; null: they share the machine's network. Outlives the cluster.
  node::PodNetwork* network = nullptr;
  node::ImageTable images;
  std::vector<node::ImageEntry> own_images{};  // that it has by itself, behind the table's
  std::string image_file{};  // where changes of the images are seen; empty: nowhere
  std::string resolv_conf;
  node::PodRuntime& pods;  // it and the rest outlive the cluster
  node::LogFiles& logs;
  node::ProbeCheck* probes = nullptr;         // likewise; null: nobody probes
  std::string claims_directory{};             // where volumes of claims lie; empty: there are none
  std::vector<std::string> host_paths{};      // directories that hostPath may name
  std::vector<std::string> private_places{};  // with our own data, which pods never see
  bool allow_host_network = false;            // where pods have their own
  node::PodStreams* streams = nullptr;        // likewise; null: no exec and no port-forward
};

struct UpOptions {
  apiserver::ApiServer::Options server;
  // Where the server's own blocking work is done: nothing that pods cause may hold up its writes.
  // Null: with everybody's.
  Blocking* server_blocking = nullptr;
  // Nobody is listened to when the address is empty: calls in process only.
  std::string address;
  std::uint16_t port = 0;
  controllers::fakenode::FakeNodeOptions nodes;
  std::optional<ProcessNode> process_node{};
  controllers::QueueControllersOptions queue;
  // Machines that may be added while it runs.
  std::vector<model::MachineType> machine_types{};
  controllers::scale::ScaleOptions scale{};
  bool no_local = false;        // AppWrappers run on ManagedClusters only
  bool no_rayclusters = false;  // nor RayJobs: somebody else runs them
  // Sees every call of the controllers, before the server does. For tests of their rights.
  std::function<void(const net::Request&)> on_call{};
  StopToken skip_grace{};  // pods that are being ended have had grace enough
};

struct UpReady {
  apiserver::ApiServer& server;
  std::uint16_t port = 0;
};

// A whole cluster in one process: API server, definitions, queue, Jobs, RayClusters and nodes, all
// as clients of the server under an identity of their own. Until `stop`; calls `ready` when work
// can be given to it. Ends in order: pods with their grace, controllers, then the server. When it
// ends for another reason than `stop`, pods of a process node go on and are adopted by the next.
// Pods that did not end are an error too.
Task<Result<void>> run_up(Env env, UpOptions options, Logger logger, MetricsRegistry& metrics,
                          StopToken stop, std::function<void(const UpReady&)> ready);

}  // namespace codeflare::up
