#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "sdk/own_cluster_job.h"

#include <string>
#include <vector>

namespace codeflare::sdk {

// Queues the job in its namespace, or in `ns` when it names none. Its runtime environment and its
// code are made here from the job's fields; relative paths in them count from `base_directory`. At
// most one job of a name is created, and the same submission goes on where a client was killed.
// already_exists: the name is taken; failed_precondition: the server has no AppWrappers or RayJobs.
// Returns notes for people. The services outlive the task.
Task<Result<std::vector<std::string>>> submit_own_cluster(Env env, kube::Client& client,
                                                          kube::Discovery& discovery,
                                                          OwnClusterJob own, std::string ns,
                                                          std::string base_directory);

}  // namespace codeflare::sdk
