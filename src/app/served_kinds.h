#pragma once

#include "base/async/task.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/gvk.h"

// Which kinds the cluster of `codeflare controller` knows.
namespace codeflare {

// Whether the server has the kind; an error when it cannot be asked.
Task<Result<bool>> is_served(kube::Client& client, model::ResourceType type);
// Whether the server has the kinds of the Platform, all of them.
Task<Result<bool>> serves_runs(kube::Client& client);
// Whether the server has the kinds of machines on demand.
Task<Result<bool>> serves_machines(kube::Client& client, Logger logger);

}  // namespace codeflare
