#pragma once

#include "base/result.h"
#include "model/job.h"
#include "model/ray_cluster.h"
#include "model/ray_job.h"
#include "model/service.h"
#include "ray/job.h"

#include <string>
#include <string_view>

// The objects that a RayJob makes, as KubeRay 1.5 names and labels them. Pure.
namespace codeflare::controllers::rayjob {

std::string_view mode_of(const model::RayJob& job);
bool selects_cluster(const model::RayJob& job);
// A pod submits the job.
bool has_submitter(const model::RayJob& job);

// Why the RayJob cannot be run, or empty. `event` is the reason of the Event.
struct Problem {
  std::string event;
  std::string message;
  bool empty() const { return message.empty(); }
};
Problem problem_of(const model::RayJob& job);

// The RayCluster of its own, under the name in the status.
model::RayCluster cluster_of(const model::RayJob& job);
// The Job that submits it to `cluster` under the id and address in the status.
Result<model::Job> submitter_of(const model::RayJob& job, const model::RayCluster& cluster);
// The service that leads to the head of whichever cluster the RayJob has now.
std::string service_name(const model::RayJob& job);
model::Service service_of(const model::RayJob& job, const model::RayCluster& cluster);
// The submitted request.
Result<ray::JobRequest> request_of(const model::RayJob& job);

}  // namespace codeflare::controllers::rayjob
