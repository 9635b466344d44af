#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "sdk/ddp_job.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare::cli {

// The arguments of DDPJobDefinition as options of `submit job`.
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
};
void add_ddp_flags(CLI::App& verb, DdpFlags& flags);

// The other options of `submit job` that count for them.
struct DdpJob {
  std::string name;
  std::vector<std::string> script_args;
  std::vector<std::string> env;  // KEY=VALUE
  std::string working_dir;       // empty: the working directory
};
// The definition, checked.
Result<sdk::DdpDefinition> ddp_definition(const DdpFlags& flags, const DdpJob& job);
// Queues the job in pods of its own.
Task<Result<void>> submit_ddp(Session& session, DdpFlags flags, DdpJob job);

}  // namespace codeflare::cli
