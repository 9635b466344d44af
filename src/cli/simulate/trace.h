#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sched/spec.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The jobs submitted to some cluster, and when: the input of a simulation.
namespace codeflare::cli::simulate {

using sched::Amount;

struct Job {
  std::string id;
  // Since the first submission of the trace.
  Duration submitted{};
  // How long it runs once started.
  Duration duration{};
  // 0: as few as the nodes allow, when the trace tells only what the whole job takes.
  std::int64_t pods = 0;
  // Of all its pods together: millicores, bytes, pieces.
  Amount cpu = 0;
  Amount memory = 0;
  Amount gpu = 0;
  std::int32_t priority = 0;
  // Position in Trace::quotas.
  std::uint32_t quota = 0;
  // Its owner's estimate; zero: nothing was said.
  Duration expected{};
  // When it is killed, summed over dispatches; zero: never.
  Duration limit{};
};

struct Trace {
  // In order of submission; those of one moment as in the file.
  std::vector<Job> jobs;
  // Names of quota nodes; the first is empty: none was named.
  std::vector<std::string> quotas{""};
  // The first submission as the trace writes it, seconds since its zero.
  double starts = 0;
  // Valid lines that do not count as a job: cancelled before they ran.
  std::size_t left_out = 0;
  // Lines about a part of a job that has a line for the whole, in SWF.
  std::size_t parts = 0;
  // Lines that could not be understood, with TraceOptions::skip_bad.
  std::size_t skipped = 0;
  std::vector<std::string> first_skipped;
  // Columns of a CSV file that mean nothing here.
  std::vector<std::string> unknown_columns;
};

struct TraceOptions {
  // For messages: "jobs.csv:12: ...".
  std::string file = "trace";
  // Leave out lines that are wrong instead of failing at the first.
  bool skip_bad = false;
};

// A header line, then a job a line; docs/simulate.md lists the columns and what else they may be
// called.
Result<Trace> read_csv(std::string_view text, const TraceOptions& options);

// The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, comments begin
// with ";". A processor is a pod of one cpu.
Result<Trace> read_swf(std::string_view text, const TraceOptions& options);

}  // namespace codeflare::cli::simulate
