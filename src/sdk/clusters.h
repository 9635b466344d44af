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
  std::string dashboard_uri{};  // of an exposed dashboard, as far as its host is known

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
enum class Applied : std::uint8_t {
  created,
  unchanged,
  scaled,   // the number of workers alone
  changed,  // in place, the priority included
  recreated
};

// The priority of an AppWrapper before and after a change.
struct PriorityChange {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

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
  // Creates the cluster, or leaves the one of its name alone if that asks for the same. The number
  // of workers of a running cluster and the priority in the queue change in place. Any other
  // difference: with `force` the cluster is deleted and queued anew, else failed_precondition names
  // the fields, and nothing is changed.
  Task<Result<Applied>> apply(ClusterConfig config, std::string ns, bool force);
  // The same for a definition as it stands.
  Task<Result<Applied>> apply(json::Document manifest, std::string ns, bool force);
  // Changes the replicas of a worker group of the running RayCluster; an empty name is the first
  // group. Workers beyond the plan of the queue start where they fit; removed workers free their
  // places at once.
  Task<Result<GroupScale>> scale(model::ObjectKey key, std::string group, std::int64_t replicas);
  // Changes the priority of the cluster's AppWrapper, queued or running.
  Task<Result<PriorityChange>> prioritize(model::ObjectKey key, std::int64_t priority);
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
  Task<Result<Applied>> apply_to(ClusterInfo wanted, json::Document manifest, bool force,
                                 bool any_queue);
  // An AppWrapper without a priority gets that of its pods' PriorityClass, where the caller may
  // read it.
  Task<Result<json::Document>> with_priority(json::Document manifest);
  // With the kind of exposure, and the Gateway, that this server has.
  Task<Result<ClusterConfig>> with_exposure(ClusterConfig config);
  // Of a Route whose host OpenShift chose.
  Task<Result<void>> add_exposed_host(ClusterInfo& info);

  kube::Client& client_;
  kube::Discovery& discovery_;
};

// From its objects, at least one of which is there.
ClusterInfo cluster_info(ClusterObjects objects);

// The configuration that yields the cluster again. failed_precondition when it has settings that
// cannot be read back (volumes, pod overrides, ...).
Result<ClusterConfig> definition_of(const ClusterInfo& info);
// The cluster of a definition, as if it existed; invalid_argument when it holds no RayCluster.
Result<ClusterInfo> info_of_manifest(const json::Document& manifest);
// The fields in which a cluster is not what is wanted. The number of workers is that of the running
// cluster. Differences that no field stands for have a name too: "settings of the head".
std::vector<std::string> changed_fields(const ClusterInfo& has, const ClusterInfo& wanted);
std::vector<std::string> changed_fields(const ClusterInfo& has, const ClusterConfig& wanted);
// Whether all of these fields of the cluster can change while it exists.
bool changes_in_place(const ClusterInfo& info, const std::vector<std::string>& fields);

Error cluster_not_found(const model::ObjectKey& key);

}  // namespace codeflare::sdk
