#pragma once

#include "sdk/job_handle.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// Jobs that are AppWrappers on the server: pods of their own, or a Ray cluster of their own.
namespace codeflare::sdk {

// By label, of a namespace or (empty) of all: two requests.
Task<Result<std::vector<JobInfo>>> list_gang_jobs(kube::Client& client, std::string ns);

// The AppWrapper of a job; nothing when it is missing, or not a job.
Task<Result<std::optional<model::AppWrapper>>> find_job_wrapper(kube::Client& client,
                                                                model::ObjectKey key);

// The pod of replica 0 whose command runs; nothing when there is none.
Task<Result<std::optional<model::ObjectKey>>> running_pod(kube::Client& client,
                                                          model::ObjectKey key);

std::unique_ptr<JobHandle> gang_handle(kube::Client& client, model::ObjectKey key);

}  // namespace codeflare::sdk
