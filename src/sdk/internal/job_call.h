#pragma once

#include "sdk/internal/call.h"
#include "sdk/job_handle.h"
#include "sdk/jobs.h"

#include <memory>

namespace codeflare::sdk::internal {

// For calls that name the address of a dashboard: no API server is needed.
class NoServer final : public net::HttpService {
 public:
  Task<Result<net::Response>> send(net::Request request) override;
};

// One call about jobs, with the way to its dashboard.
struct JobCall {
  NoServer nowhere;
  Server server;  // with an address over `nowhere`
  std::unique_ptr<Jobs> jobs;
  JobTarget target;
  std::unique_ptr<JobHandle> handle;  // of open_one()
};

// Arguments: `address`, else `cluster`, else the only Ray cluster of the namespace. With an
// address: `headers`, `insecure`, `ca_file`. `base_directory` is where relative paths begin,
// `patience` the time for a dashboard that does not answer.
Task<Result<std::unique_ptr<JobCall>>> open_jobs(const Call& call);
// The same for the job `name`, whichever back end runs it.
Task<Result<std::unique_ptr<JobCall>>> open_one(const Call& call);

// As an answer: what `-o json` prints, and Ray's own fields.
json::Value described(json::Arena& arena, const JobInfo& job);
// {"name": ..., "notes": [...]}
std::string submitted(const std::string& name, const std::vector<std::string>& notes);

}  // namespace codeflare::sdk::internal
