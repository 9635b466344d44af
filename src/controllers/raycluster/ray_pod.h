#pragma once

#include "model/pod.h"
#include "model/ray_cluster.h"
#include "model/service.h"

namespace codeflare::controllers::raycluster {

// The pods and the service of a RayCluster as KubeRay 1.5 makes them: names, labels, ray start
// command, environment, shared memory, ports, probes, and workers that wait for their head. Each is
// controlled by the cluster. The groups have at least one container.
model::Pod head_pod(const model::RayCluster& cluster);
model::Pod worker_pod(const model::RayCluster& cluster, const model::RayWorkerGroup& group);
model::Service head_service(const model::RayCluster& cluster);

}  // namespace codeflare::controllers::raycluster
