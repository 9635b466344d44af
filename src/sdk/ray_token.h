#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/secret.h"
#include "kube/client.h"
#include "model/gvk.h"
#include "model/ray_cluster.h"

namespace codeflare::sdk {

// Whether the cluster's dashboard and clients need a token: spec.authOptions.mode is "token".
bool needs_token(const model::RayCluster& ray);

// The token of a Ray cluster, from the Secret of its name; empty when the cluster needs none, or is
// not there. permission_denied names the right that is missing.
Task<Result<Secret>> ray_token(kube::Client& client, model::ObjectKey cluster);

}  // namespace codeflare::sdk
