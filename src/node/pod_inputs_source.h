#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/pod.h"
#include "node/pod_inputs.h"

namespace codeflare::node {

// Asks the API server for all that the pod refers to. Objects that are not there are left out: who
// needs them says so. Fails when the server does not answer.
Task<Result<PodInputs>> fetch_inputs(kube::Client& client, model::Pod pod);

}  // namespace codeflare::node
