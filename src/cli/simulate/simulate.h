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
  // Trainings that grow and shrink, instead of jobs of one size.
  bool elastic = false;
  std::string speeds;  // a directory
  std::string elastic_policies = "throughput";
  double interval_seconds = 0;
  double resize_seconds = 30;
  double cooldown_seconds = 0;
  bool known_work = false;
  bool up_to_requested = false;
  std::string output;  // "json"; empty: a table
};

// `codeflare simulate`: returns the exit code. Blocks.
int run_simulate(Env env, Console& console, const SimulateFlags& flags);

}  // namespace codeflare::cli::simulate
