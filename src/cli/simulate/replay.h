#pragma once

#include "base/result.h"
#include "base/time.h"
#include "cli/simulate/cluster.h"
#include "cli/simulate/policy.h"
#include "cli/simulate/trace.h"
#include "sched/spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::cli::simulate {

// Jobs that wait for one reason when nothing can change any more.
struct NeverStarted {
  std::size_t jobs = 0;
  // Of the first of them, in line: "train-7: insufficient cpu: asks 9, free 4 of 4".
  std::vector<std::string> first{};
};

// The outcome of a trace under one policy.
struct Outcome {
  std::string policy;
  std::size_t jobs = 0;
  std::size_t finished = 0;
  // Ended by their limit; not among the finished.
  std::size_t killed = 0;
  // The jobs that the core rejected, and its first message.
  std::size_t refused = 0;
  std::string first_refusal{};
  std::map<std::string, NeverStarted> never_started{};  // by reason: "insufficient"
  std::size_t evictions = 0;
  // From the first submission to the last end.
  Duration makespan{};
  // First start less submission, of every job that started; in order of size.
  std::vector<Duration> waits{};
  // End less submission over duration, at least 10 s: how much slower than alone; summed.
  double slowdown_sum = 0;
  Duration turnaround_sum{};
  // Amount times seconds that jobs held, by resource; in `lost` by dispatches that were evicted.
  std::map<std::string, double> held{};
  std::map<std::string, double> lost{};
  // The simulated clock ran past what it can hold: the rest was not replayed.
  bool cut_short = false;
};

// The gang that a job is to the core. Nodes matter only when the trace does not tell pods.
sched::GangSpec gang_of(const Job& job, const Cluster& cluster, const Policy& policy);

// Called now and then with the part of the trace that is done.
using Progress = std::function<void(double)>;

// Runs the trace through the scheduling core on a virtual clock. The same input gives the same
// outcome. Evicted jobs leave at once and begin anew.
Outcome replay(const Trace& trace, const Cluster& cluster, const Policy& policy,
               const Progress& progress = {});

}  // namespace codeflare::cli::simulate
