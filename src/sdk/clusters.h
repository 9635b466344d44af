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
enum class Applied : std::uint8_t { created, unchanged, scaled, recreated };

// The number of replicas of a worker group before and after a change.
struct GroupScale {
  std::string group;
  std::int64_t before = 0;
  std::int64_t after = 0;
};

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
  // differs in the number of workers alone is scaled in place. Any other difference: with `force`
  // the cluster is deleted and queued anew, else failed_precondition names the fields.
  Task<Result<Applied>> apply(ClusterConfig config, std::string ns, bool force);
  // Changes the replicas of a worker group of the running RayCluster; an empty name is the first
  // group. Workers beyond the plan of the queue start where they fit; removed workers free their
  // places at once.
  Task<Result<GroupScale>> scale(model::ObjectKey key, std::string group, std::int64_t replicas);
  // Deletes the cluster, waits until it is gone and creates what the manifest says.
  Task<Result<kube::ObjectRef>> recreate(model::ObjectKey key, json::Document manifest);
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

// The configuration that yields the cluster again. failed_precondition when it has settings that
// cannot be read back (volumes, pod overrides, ...).
Result<ClusterConfig> definition_of(const ClusterInfo& info);
// The fields in which a cluster is not what the configuration asks for, of those that can be read
// from a RayCluster; the number of workers is that of the running one.
std::vector<std::string> changed_fields(const ClusterInfo& info, const ClusterConfig& wanted);

Error cluster_not_found(const model::ObjectKey& key);

}  // namespace codeflare::sdk
