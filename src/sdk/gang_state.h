#pragma once

#include "model/app_wrapper.h"
#include "model/pod.h"
#include "sdk/job_info.h"

#include <optional>
#include <vector>

// Jobs whose pods run the command themselves (back end Kubernetes), as their objects show them;
// pure.
namespace codeflare::sdk {

// `pods` are those of the AppWrapper, also of earlier attempts; may be empty where they cannot be
// seen. Its `cluster` has the namespace alone.
JobInfo gang_info(const model::AppWrapper& wrapper, const std::vector<model::Pod>& pods);

// Which replica a pod is: its completion index.
std::optional<std::int64_t> replica_of(const model::Pod& pod);

// The status of the container that runs the command; null before the pod is started.
const model::ContainerStatus* main_status(const model::Pod& pod);

// Whether the AppWrapper is a job's, by its labels; then which back end runs it.
std::optional<JobBackend> backend_of(const model::AppWrapper& wrapper);

}  // namespace codeflare::sdk
