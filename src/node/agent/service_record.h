#pragma once

#include "model/endpoint_slice.h"
#include "model/service.h"
#include "node/wire/holder_protocol.h"

#include <vector>

namespace codeflare::node {

// The holder's record of a service: its ports and address, and the endpoints of its slices with
// their ports in the service's order. Pure.
ServiceRecord service_record(const model::Service& service,
                             const std::vector<model::EndpointSlice>& slices);

}  // namespace codeflare::node
