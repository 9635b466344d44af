#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::ray {

enum class JobStatus : std::uint8_t { pending, running, stopped, succeeded, failed };

// The job has ended: its status and log stay as they are.
bool is_terminal(JobStatus status);
// PENDING, RUNNING, ... as Ray writes it.
std::string_view to_string(JobStatus status);

// Ray's record of a job. Texts are empty when Ray does not say.
struct Job {
  std::string submission_id;  // empty for drivers that nobody submitted
  std::string job_id;         // Ray's own, once a driver runs
  bool submitted = true;      // through the jobs API, so that it can be stopped
  JobStatus status = JobStatus::pending;
  std::string entrypoint;
  std::string message;
  std::string error_type;  // JOB_ENTRYPOINT_COMMAND_ERROR, ...
  std::optional<WallTime> started{};
  std::optional<WallTime> ended{};
  std::map<std::string, std::string> metadata{};
  std::string runtime_env{};  // JSON; empty: none
  std::string node_id{};      // where the entry point runs
  std::optional<int> exit_code{};
};

// A job to be. The id is chosen by the caller before the first request: whoever loses an answer can
// ask for it.
struct JobRequest {
  std::string submission_id;
  std::string entrypoint;  // for a shell
  std::string runtime_env = "{}";
  std::map<std::string, std::string> metadata{};
  // For the entry point alone; what it starts asks for itself.
  std::optional<double> num_cpus{};
  std::optional<double> num_gpus{};
  std::optional<std::uint64_t> memory_bytes{};
  std::map<std::string, double> resources{};
  std::map<std::string, std::string> label_selector{};
};

struct ServerVersion {
  int api = 0;      // of the jobs API: 4 since deletion
  std::string ray;  // "2.60.0"
};

// The wire forms of the above; errors are `data_loss`: the server's answer is not understood.
Result<Job> parse_job(std::string_view json);
Result<std::vector<Job>> parse_jobs(std::string_view json);
Result<ServerVersion> parse_version(std::string_view json);
// `{name: text}` and `{name: bool}`, the other answers that there are.
Result<std::string> parse_text_member(std::string_view json, std::string_view name);
Result<bool> parse_bool_member(std::string_view json, std::string_view name);
// Body of a submission; absent fields are left out, so that older servers know all that is there.
// Fails when runtime_env is not a JSON object.
Result<std::string> to_json(const JobRequest& request);

}  // namespace codeflare::ray
