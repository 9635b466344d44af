#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "sdk/cluster_config.h"
#include "sdk/cluster_state.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::sdk {

// One Ray cluster as the server has it, queued or running.
struct ClusterInfo {
  model::ObjectKey key;
  std::string wrapper;  // the AppWrapper that it is in; empty: none
  WallTime created{};
  ClusterState state;
  ClusterSizes sizes;
  ClusterObjects objects;

  // For Ray clients inside the Kubernetes cluster: "ray://demo-head-svc.team.svc:10001".
  std::string client_uri() const;
};

enum class ClusterGoal : std::uint8_t { ready, finished, deleted };

struct ClusterWait {
  ClusterGoal goal = ClusterGoal::ready;
  Duration timeout{};  // zero: none
  // Each state that differs from the one before, the first included.
  std::function<void(const ClusterState&)> observer;
  // How long a state that will hardly heal is given.
  Duration stuck_patience = std::chrono::minutes(1);
};

// The effect of apply().
enum class Applied : std::uint8_t { created, unchanged, recreated };

// The Ray clusters of one server. Errors name the cluster. Loop-bound; the client outlives it.
//   Clusters clusters(client, discovery);
//   CO_TRY_ASSIGN(json::Document manifest, co_await clusters.manifest_for(config));
//   CO_TRY(co_await clusters.create(std::move(manifest), "team"));
//   CO_TRY(co_await clusters.wait({"team", "demo"}, {}));
class Clusters {
 public:
  Clusters(kube::Client& client, kube::Discovery& discovery)
      : client_(client), discovery_(discovery) {}

  // Includes clusters that wait in an AppWrapper; two requests. All namespaces when `ns` is
  // empty.
  Task<Result<std::vector<ClusterInfo>>> list(std::string ns, std::string label_selector = {});
  // With its pods, where the caller may see them.
  Task<Result<ClusterInfo>> get(model::ObjectKey key);

  // cluster_manifest() for what this server has: without AppWrappers the RayCluster alone, unless
  // the configuration insists. Fails when the server has no RayClusters.
  Task<Result<json::Document>> manifest_for(ClusterConfig config);
  // Creates what the manifest says, in its own namespace or else in `ns`.
  Task<Result<kube::ObjectRef>> create(json::Document manifest, std::string ns,
                                       bool dry_run = false);
  // Creates the cluster, or leaves the one of its name alone if that asks for the same. One that
  // differs is deleted and queued anew with `force`, else failed_precondition names the fields.
  Task<Result<Applied>> apply(ClusterConfig config, std::string ns, bool force);
  // Asks the server to delete the cluster with its AppWrapper; wait() for `deleted` waits.
  Task<Result<void>> remove(model::ObjectKey key, bool dry_run = false);

  // By watch. Fails as soon as the goal is out of reach, with the reason; deadline_exceeded when
  // the time is up, which undoes nothing.
  Task<Result<ClusterInfo>> wait(model::ObjectKey key, ClusterWait options);

 private:
  Task<Result<std::optional<model::AppWrapper>>> find_wrapper(model::ObjectKey key);
  Task<Result<std::optional<model::RayCluster>>> find_ray(model::ObjectKey key);
  Task<Result<bool>> has_wrappers();

  kube::Client& client_;
  kube::Discovery& discovery_;
};

// From its objects, at least one of which is there.
ClusterInfo cluster_info(ClusterObjects objects);

Error cluster_not_found(const model::ObjectKey& key);

}  // namespace codeflare::sdk
