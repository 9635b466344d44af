#pragma once

#include "base/time.h"
#include "json/value.h"
#include "model/gvk.h"
#include "model/quantity.h"
#include "ray/job.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// Jobs in one vocabulary, whichever back end runs them; pure.
namespace codeflare::sdk {

enum class JobPhase : std::uint8_t {
  queued,   // waits for its own cluster or pods
  pending,  // accepted; waits for resources of its cluster, or for its environment
  running,
  succeeded,
  failed,
  stopped,
};
// "Queued", "Succeeded"
std::string_view to_string(JobPhase phase);
bool has_ended(JobPhase phase);

// The runner of a job.
enum class JobBackend : std::uint8_t {
  ray,         // an existing Ray cluster
  ray_own,     // a Ray cluster of its own: an AppWrapper around a RayJob
  kubernetes,  // pods of its own: an AppWrapper around a Job
};
// "ray", "ray-own", "kubernetes"
std::string_view to_string(JobBackend backend);
std::optional<JobBackend> parse_backend(std::string_view word);

// The requests of all pods, or of the command on a Ray cluster; absent: not known.
struct JobSizes {
  std::optional<model::Quantity> cpus{};
  std::optional<model::Quantity> memory{};
  std::optional<model::Quantity> gpus{};

  friend bool operator==(const JobSizes&, const JobSizes&) = default;
};

struct JobInfo {
  std::string name;          // the submission id
  model::ObjectKey cluster;  // the Ray cluster; empty name: none, or only its address is known
  JobBackend backend = JobBackend::ray;
  JobPhase phase = JobPhase::pending;
  std::string reason{};   // Ray's word, such as JOB_ENTRYPOINT_COMMAND_ERROR; may be empty
  std::string message{};  // the same in a sentence
  std::string command{};
  std::string ray_job_id{};  // once its driver runs
  std::optional<WallTime> started{};
  std::optional<WallTime> ended{};
  std::optional<int> exit_code{};
  std::int64_t replicas = 1;  // pods that run the command
  std::int64_t attempts = 1;  // how often it was started, of those that are known
  JobSizes sizes{};
  std::map<std::string, std::string> metadata{};
  std::string runtime_env{};  // JSON; empty: none. May hold secrets: never shown unasked
  std::string node_id{};      // Ray's, of the command

  friend bool operator==(const JobInfo&, const JobInfo&) = default;
};

// Ray does not report the resources of a command; they are kept in its metadata under these keys.
inline constexpr std::string_view kCpusMetadata = "codeflare.dev/cpus";
inline constexpr std::string_view kMemoryMetadata = "codeflare.dev/memory";
inline constexpr std::string_view kGpusMetadata = "codeflare.dev/gpus";

JobInfo job_info(model::ObjectKey cluster, const ray::Job& job);

// The output of `-o json`.
json::Value to_json(json::Arena& arena, const JobInfo& job);

// "Failed: JOB_ENTRYPOINT_COMMAND_ERROR: exit code 1" in one line.
std::string progress_line(const JobInfo& job);

}  // namespace codeflare::sdk
