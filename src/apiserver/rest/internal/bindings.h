#pragma once

#include "apiserver/rest/internal/server.h"

namespace codeflare::apiserver::internal {

// A call on another resource in the name of the same user.
Result<Call> inner_call(Server& server, const VirtualResource::Call& outer, std::string_view group,
                        std::string_view plural);
// The answer of bindings and evictions.
json::Value success_status(json::Arena& arena);

// Adds it to the pod's status, or takes the place of the one of its type.
void set_pod_condition(json::Arena& arena, json::Value& pod, const json::Value& condition);

std::unique_ptr<VirtualResource> make_eviction(Server& server);

// pods/binding, bindings and pods/eviction: calls on pods that are writes of their own kind.
void add_pod_calls(ApiService& service, Server& server);

}  // namespace codeflare::apiserver::internal
