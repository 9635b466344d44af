#pragma once

#include "base/result.h"
#include "json/value.h"
#include "model/ray_job.h"
#include "sdk/cluster_config.h"
#include "sdk/code_secrets.h"
#include "sdk/jobs.h"

#include <cstdint>
#include <optional>
#include <string>

// Jobs that bring a Ray cluster of their own: queued, run and torn down without a client; pure.
namespace codeflare::sdk {

struct OwnClusterJob {
  JobSpec job;
  // Its name and namespace are the job's; an AppWrapper queues it in any case.
  ClusterConfig cluster;
  std::string runtime_env = "{}";  // JSON that the cluster understands
  // A directory that becomes the working directory of the job; empty archives are left out.
  std::optional<CodeArchive> code{};
  std::string program_image{};    // unpacks the code
  std::int64_t ttl_seconds = -1;  // the record goes so long after the end; negative: it stays
};

// All that is wrong with it, in one error.
Result<void> check(const OwnClusterJob& own);

// The RayJob: submitted by a pod whose log is the job's, its cluster gone after the end.
Result<model::RayJob> own_cluster_ray_job(const OwnClusterJob& own);

// The AppWrapper around it, with the labels of jobs; suspended as long as its code is not there.
Result<json::Document> own_cluster_manifest(OwnClusterJob own);

}  // namespace codeflare::sdk
