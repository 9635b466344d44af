#pragma once

#include "controllers/raycluster/ray_names.h"
#include "model/gvk.h"
#include "model/pod.h"
#include "runtime/index.h"

#include <optional>
#include <string>

namespace codeflare::controllers::raycluster {

// The facts about one of its pods that a RayCluster's decisions need.
struct RayPod {
  std::string name;
  std::string uid;
  std::string owner_uid;
  NodeType type = NodeType::worker;
  std::string group;
  std::string phase;
  std::string address;
  bool deleting = false;
  // Its Ray container has ended and will not begin again.
  bool ray_ended = false;
  // The Ready condition: its status, empty when it has none.
  std::string ready;
  std::string ready_reason;
  std::string ready_message;
  // Of the first container that waits or has ended, to say why a pod is not ready.
  std::string stuck_reason;
  std::string stuck_message;

  bool over() const { return phase == "Succeeded" || phase == "Failed"; }
  bool running() const { return phase == "Running"; }
  bool unhealthy() const { return over() || ray_ended; }
};

RayPod ray_pod_of(const model::Pod& pod);

using RayPods = runtime::Index<model::ObjectKey, RayPod>;  // by RayCluster
std::optional<RayPods::Entry> read_ray_pod(const runtime::ObjectChange& change,
                                           const RayPod* before);

}  // namespace codeflare::controllers::raycluster
