#pragma once

#include "base/time.h"
#include "cli/simulate/cluster.h"
#include "cli/simulate/replay.h"
#include "cli/simulate/trace.h"

#include <string>
#include <vector>

namespace codeflare::cli::simulate {

// The numbers of one outcome as people compare them.
struct Summary {
  std::string policy;
  std::size_t jobs = 0;
  std::size_t started = 0;
  std::size_t finished = 0;
  std::size_t killed = 0;
  std::size_t refused = 0;
  std::size_t evictions = 0;
  std::map<std::string, NeverStarted> never_started{};
  std::string first_refusal{};
  bool cut_short = false;
  Duration makespan{};
  Duration wait_mean{}, wait_p50{}, wait_p90{}, wait_p99{}, wait_max{};
  Duration turnaround_mean{};
  double slowdown_mean = 0;
  // Part of what all nodes had from the first submission to the last end, by resource.
  std::map<std::string, double> utilisation{};
  std::map<std::string, double> lost{};
};

Summary summarize(const Outcome& outcome, const Cluster& cluster);

// A table with a line for each policy, and notes on what did not run.
std::string to_text(const std::vector<Summary>& summaries);
std::string to_json(const std::vector<Summary>& summaries, const Trace& trace,
                    const Cluster& cluster);

}  // namespace codeflare::cli::simulate
