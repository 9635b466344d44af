#pragma once

#include "model/pod.h"
#include "model/resource_list.h"

namespace codeflare::model {

// The requests of a pod, as the scheduler, quotas and the kubelet count them:
//   the containers and sidecars together, or what the init phase needs if that is more (an init
//   container runs beside the sidecars before it), then pod-level requests for cpu, memory and
//   huge pages instead of those sums, then the overhead of its runtime.
// A container without a request counts its limit: servers default it so, but pods inside other
// objects have not been defaulted yet.
ResourceList pod_requests(const PodSpec& spec);

// The same sum over limits. A resource that some container leaves unlimited counts as far as it is
// limited; overhead adds only to what is limited.
ResourceList pod_limits(const PodSpec& spec);

// An init container that runs on beside the others.
bool is_sidecar(const Container& init_container);

}  // namespace codeflare::model
