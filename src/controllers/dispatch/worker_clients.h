#pragma once

#include "kube/client.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::dispatch {

// A worker as the hub's process knows it now.
struct WorkerSeen {
  std::string name;
  bool connected = false;
  std::string reason{};   // of the condition Connected
  std::string message{};  // the server's own words
};

// The way to the API servers of workers, for whoever answers questions about work on them (the view
// API: logs, explain). Implemented by ClusterLinks. Loop-bound; lives as long as the manager.
//   if (auto client = workers.client("east")) { co_await client->logs({ns, pod}, {.follow = true});
//   }
// The client has the rights of the Secret's account (access.h: kWorkerRights). Judge the caller by
// their rights on the hub before you use it, and let nothing of it reach them but the answer.
class WorkerClients {
 public:
  virtual ~WorkerClients() = default;
  // By the name of the ManagedCluster; null for a name that is not managed, for `local`, and where
  // the Secret holds no usable kubeconfig. A worker that does not answer still has a client: its
  // calls fail with the server's error. Keep it for one question only: another Secret makes another
  // client, and the old one lives as long as somebody holds it.
  virtual std::shared_ptr<kube::Client> client(std::string_view cluster) const = 0;
  // By name.
  virtual std::vector<WorkerSeen> clusters() const = 0;
};

}  // namespace codeflare::controllers::dispatch
