#pragma once

#include "base/env/env.h"
#include "cli/session/console.h"

#include <cstdint>
#include <string>

namespace codeflare::cli::simulate {

struct SimulateFlags {
  std::string trace;   // "-": standard input
  std::string format;  // "csv", "swf"; empty: by the file's name
  std::int64_t nodes = 0;
  std::string cpus;
  std::string memory;
  std::string gpus;
  std::string cluster;  // a file, instead of equal nodes
  std::string policies = "best-effort";
  double holding_seconds = 0;
  bool skip_bad = false;
  std::string output;  // "json"; empty: a table
};

// `codeflare simulate`: returns the exit code. Blocks.
int run_simulate(Env env, Console& console, const SimulateFlags& flags);

}  // namespace codeflare::cli::simulate
