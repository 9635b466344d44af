#pragma once

#include "controllers/endpoints/endpoint_pods.h"
#include "model/endpoint_slice.h"
#include "model/service.h"

#include <vector>

namespace codeflare::controllers::endpoints {

struct ObservedService {
  model::Service service;
  std::vector<EndpointPod> pods;             // that it selects
  std::vector<model::EndpointSlice> slices;  // that are there
};

struct DesiredSlices {
  std::vector<model::EndpointSlice> create;
  std::vector<model::EndpointSlice> update;
  std::vector<model::EndpointSlice> remove;
};

// The slices of a Service as Kubernetes 1.34 has them: one address type, endpoints with the same
// resolved ports together, at most a hundred in one, and an empty one when there are no endpoints.
// Pure.
DesiredSlices decide(const ObservedService& observed);

}  // namespace codeflare::controllers::endpoints
