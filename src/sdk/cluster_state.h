#pragma once

#include "base/time.h"
#include "model/app_wrapper.h"
#include "model/pod.h"
#include "model/ray_cluster.h"
#include "model/resource_list.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Where a Ray cluster is on its way from the queue to its end; pure.
namespace codeflare::sdk {

enum class ClusterPhase : std::uint8_t {
  held,      // its owner keeps it from starting
  queued,    // waits for its turn, quota or nodes
  starting,  // dispatched; not all of it is ready
  ready,
  suspended,
  completed,  // its AppWrapper has finished
  failed,
  deleting,
};
// "Queued", "Ready"
std::string_view to_string(ClusterPhase phase);

// All that the server has of one cluster; at least one of the first two.
struct ClusterObjects {
  std::optional<model::AppWrapper> wrapper;
  std::optional<model::RayCluster> ray;
  std::vector<model::Pod> pods;
};

struct ClusterState {
  ClusterPhase phase = ClusterPhase::queued;
  std::string reason;   // "InsufficientResources", "ImagePullBackOff"; may be empty
  std::string message;  // the same in a sentence
  bool head_ready = false;
  std::int64_t workers_ready = 0;
  std::int64_t workers_wanted = 0;
  // Will hardly heal by waiting: an image that cannot be pulled, a crash loop, an unknown quota.
  bool stuck = false;

  friend bool operator==(const ClusterState&, const ClusterState&) = default;
};

ClusterState state_of(const ClusterObjects& objects);

// "Starting: head ready, 1 of 2 workers ready" in one line, for people who wait.
std::string progress_line(const ClusterState& state);

// The requests of the whole cluster, head included.
struct ClusterSizes {
  std::int64_t workers = 0;
  model::ResourceList requests;  // of every pod together
  std::string image;             // of the head

  model::Quantity cpus() const { return requests.get("cpu"); }
  model::Quantity memory() const { return requests.get("memory"); }
  // Devices of all kinds that Ray calls GPU.
  model::Quantity gpus() const;
};
ClusterSizes sizes_of(const model::RayClusterSpec& spec);

// The RayCluster inside an AppWrapper, as it was written; nothing when there is none.
std::optional<model::RayCluster> wrapped_cluster(const model::AppWrapper& wrapper);

}  // namespace codeflare::sdk
