#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "json/value.h"
#include "sdk/ddp_job.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare::cli {

// The arguments of DDPJobDefinition as options of `submit job` and `define job`.
struct DdpFlags {
  std::string script;
  std::string module;
  std::string shape;  // "2x1"
  std::string cpu;
  std::optional<std::int64_t> gpu;
  std::optional<std::int64_t> mem_mb;
  std::int64_t max_retries = 0;
  std::vector<std::string> mounts;
  std::optional<std::int64_t> rdzv_port;
  std::string rdzv_backend;
  std::vector<std::string> scheduler_args;  // KEY=VALUE
  std::string image;

  // A DDP job was asked for.
  bool any() const { return !script.empty() || !module.empty(); }

  friend bool operator==(const DdpFlags&, const DdpFlags&) = default;
};
void add_ddp_flags(CLI::App& verb, DdpFlags& flags);

// The other options that count for them.
struct DdpJob {
  std::string name;
  std::vector<std::string> script_args;
  std::vector<std::string> env;  // KEY=VALUE
  std::string working_dir;       // empty: the working directory
};
// The arguments that were given, under the names of DDPJobDefinition and checked.
Result<json::Document> ddp_arguments(const DdpFlags& flags, const DdpJob& job);
Result<sdk::DdpDefinition> ddp_definition(const DdpFlags& flags, const DdpJob& job);
// Queues the job in pods of its own.
Task<Result<void>> submit_ddp(Session& session, sdk::DdpDefinition definition);
// The same job for a Ray cluster of the session's namespace.
Task<Result<sdk::JobSpec>> ddp_for_cluster(Session& session, sdk::DdpDefinition definition,
                                           std::string cluster);

}  // namespace codeflare::cli
