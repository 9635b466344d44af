#pragma once

#include "base/time.h"
#include "controllers/raycluster/ray_names.h"
#include "kube/object.h"
#include "model/gvk.h"
#include "runtime/informer.h"

#include <map>
#include <string>
#include <vector>

namespace codeflare::controllers::raycluster {

// What a RayCluster's decisions need to know of one of its pods.
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

RayPod ray_pod_of(const kube::Object& pod);

// The pods of each RayCluster, kept in step with an informer.
class RayPods {
 public:
  explicit RayPods(runtime::Informer& pods);

  // In the order of their names.
  std::vector<RayPod> of(const model::ObjectKey& cluster) const;

 private:
  void change(const runtime::ObjectChange& change);

  std::map<model::ObjectKey, std::map<std::string, RayPod>> by_cluster_;
};

}  // namespace codeflare::controllers::raycluster
