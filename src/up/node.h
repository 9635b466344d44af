#pragma once

#include "apiserver/identity/pki.h"
#include "apiserver/server/api_server.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/client.h"
#include "node/agent/log_service.h"
#include "node/agent/pod_agent.h"
#include "node/agent/pod_http.h"
#include "node/stream/stream_service.h"
#include "runtime/manager.h"
#include "up/cluster.h"
#include "up/internal/work.h"
#include "up/pod_connect.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::up {

// Where pods find the API server, by the network that they have.
struct ServerPlaces {
  std::string address;  // on the machine's
  std::uint16_t port = 0;
  std::string cluster_address = std::string(apiserver::kServiceAddress);  // on their own
  std::uint16_t cluster_port = 443;
};

// A process node, from its registration to the end of its pods. The manager runs its agent; options
// and description outlive it.
class UpNode {
 public:
  UpNode(Env env, const ProcessNode& options, const node::NodeDescription& about,
         runtime::Manager& manager, Logger logger);

  const std::string& name() const { return about_.name; }
  // Before the manager runs: the Node is there.
  Task<Result<void>> register_node();
  // Before the manager runs: these pods of an earlier run are its own.
  void adopt(const std::vector<node::PodRuntime::Found>& found) { agent_.adopt(found); }
  // Heartbeats, and changes of the images, until the group stops.
  void keep_alive(TaskGroup& group);
  void serve_at(ServerPlaces places);
  // While the manager still runs: ends the pods. An error names those that did not.
  Task<Result<void>> stop_pods() { return agent_.stop_pods(); }
  // Their grace is over.
  void skip_grace() { agent_.skip_grace(); }
  // Likewise, afterwards: says that nobody is here any more.
  Task<void> report_not_ready();

 private:
  // The file as it was seen last; what has not changed is not read.
  struct Seen {
    WallTime modified{};
    std::uint64_t size = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  Task<void> follow_images();
  Task<void> look_for_images();

  Env env_;
  const ProcessNode& options_;
  const node::NodeDescription& about_;
  kube::Client& client_;
  Logger logger_;
  std::pair<std::string, std::string> api_server_;
  std::pair<std::string, std::string> api_in_network_;
  std::optional<Seen> images_seen_;
  node::PodAgent& agent_;
};

// A process node that comes and goes while the cluster runs: its agent has a manager of its own.
class MachineNode {
 public:
  MachineNode(Env env, kube::Client& client, const ProcessNode& options,
              node::NodeDescription about, const Logger& logger);

  UpNode& node() { return node_; }
  // Its Node is registered.
  void start();
  // Its pods are ended, or go on without it.
  Task<void> stop() { return group_.close(); }

 private:
  node::NodeDescription about_;
  runtime::Manager manager_;
  UpNode node_;
  Work work_;
  TaskGroup group_;
};

// All process nodes of one machine: they share its processes, its pod network, logs and streams.
class UpNodes {
 public:
  UpNodes(Env env, const ProcessNode& options, runtime::Manager& manager, Logger logger);

  // A node that was not there at the start, or was added at an earlier one: a process node with
  // this name, unless there is one. While the manager runs.
  Task<Result<void>> add(node::NodeDescription about);
  // Ends its pods and removes its Node.
  Task<Result<void>> remove(std::string name);
  const node::NodeDescription& about() const { return options_.about; }
  // Called with all names when they change.
  void on_change(std::function<void(const std::set<std::string>&)> callback) {
    on_change_ = std::move(callback);
  }

  // Before the manager runs: the Nodes are there, pods of an earlier run are known to the node that
  // has them, logs and streams are served until stop().
  Task<Result<void>> prepare(PodConnect* connect);
  std::set<std::string> names() const;
  void keep_alive(TaskGroup& group);
  // The server's addresses for pods, before any starts.
  void serve_at(const ServerPlaces& places);
  // The same of the server of this process, which then listens where the other pods are too.
  Task<Result<void>> serve(apiserver::ApiServer& server, std::string address, std::uint16_t port);
  // While the manager still runs: ends the pods, what streams from them, and their network, unless
  // some pods did not end: an error names them.
  Task<Result<void>> stop();
  // Pods have had grace enough; now, or when they are stopped.
  void skip_grace();
  // Instead, when nobody asked for an end: pods go on, for the next start to adopt.
  Task<void> leave();

 private:
  Task<void> end_streams();
  Task<void> stop_machines();
  // Machines that were added at an earlier start.
  Task<Result<void>> find_machines();
  std::vector<UpNode*> all() const;
  void tell_names();

  Env env_;
  const ProcessNode& options_;
  kube::Client& client_;
  Logger logger_;
  node::LogService logs_;
  std::optional<node::StreamService> streams_;
  node::PodHttp http_;
  PodConnect* connect_ = nullptr;  // while it serves
  std::vector<std::unique_ptr<UpNode>> nodes_;
  std::map<std::string, std::unique_ptr<MachineNode>> machines_;
  std::set<std::string> leaving_;  // of these
  std::set<std::string> gone_;     // removed ones: logs of their ended pods are still here
  std::optional<ServerPlaces> places_;
  std::function<void(const std::set<std::string>&)> on_change_;
  bool stopping_ = false;
};

// Removes the Nodes codeflare-N of an earlier run that these are not; their pods go with them.
Task<Result<void>> remove_other_process_nodes(kube::Client& client, const ProcessNode& options);

}  // namespace codeflare::up
