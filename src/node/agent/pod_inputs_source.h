#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/pod.h"
#include "node/agent/pod_inputs.h"
#include "node/agent/token_cache.h"

namespace codeflare::node {

// Asks the API server for all that the pod refers to. Objects that are not there are left out: who
// needs them says so. Fails when the server does not answer.
// Tokens are asked for when there is none in the cache that lasts.
Task<Result<PodInputs>> fetch_inputs(kube::Client& client, model::Pod pod, TokenCache& tokens,
                                     WallTime now);

}  // namespace codeflare::node
