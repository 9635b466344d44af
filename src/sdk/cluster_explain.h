#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"
#include "kube/client.h"
#include "model/meta.h"
#include "sdk/clusters.h"

namespace codeflare::sdk {

// Why a Ray cluster waits, or its state when it does not, as plain data: `name`, `namespace`,
// `state`, `waits`, `reason`, `message`, and of the controller's own queue `paused`, `position`,
// `estimatedStart`, `estimateNote`, `report` (docs/view-api.md). `problem` says why the controller
// did not answer; then reason and message are those of the status.
Task<Result<json::Document>> explain_cluster(kube::Client& client, Clusters& clusters,
                                             model::ObjectKey key);

}  // namespace codeflare::sdk
