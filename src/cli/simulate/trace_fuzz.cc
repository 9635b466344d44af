// Any bytes: both readers end, and what they make of them can be replayed without breaking the
// core; with and without skipping bad lines the good ones are the same.

#include "base/check.h"
#include "cli/simulate/cluster.h"
#include "cli/simulate/replay.h"
#include "cli/simulate/report.h"
#include "cli/simulate/trace.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::cli::simulate {
namespace {

constexpr std::size_t kReplayedMax = 200;

void check_trace(const Trace& trace) {
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const Job& job = trace.jobs[i];
    CHECK(job.submitted >= Duration::zero() && job.duration >= Duration::zero());
    CHECK(i == 0 || trace.jobs[i - 1].submitted <= job.submitted);
    CHECK(job.cpu >= 0 && job.memory >= 0 && job.gpu >= 0 && job.pods >= 0);
    CHECK(job.quota < trace.quotas.size());
  }
}

void check_replay(const Trace& trace) {
  if (trace.jobs.empty() || trace.jobs.size() > kReplayedMax) {
    return;
  }
  const Result<Cluster> cluster =
      make_cluster({.count = 3, .cpus = "8", .memory = "16Gi", .gpus = "4"});
  CHECK(cluster.has_value());
  const Result<std::vector<Policy>> policies =
      parse_policies("best-effort,fifo,backfill+preemption", {});
  CHECK(policies.has_value());
  for (const Policy& policy : *policies) {
    const Outcome outcome = replay(trace, *cluster, policy);
    std::size_t never = 0;
    for (const auto& [why, alike] : outcome.never_started) {
      never += alike.jobs;
    }
    CHECK(outcome.cut_short ||
          outcome.finished + outcome.killed + outcome.refused + never == outcome.jobs);
    static_cast<void>(to_json({summarize(outcome, *cluster)}, trace, *cluster));
  }
}

void run(std::string_view text) {
  for (const auto read : {read_csv, read_swf}) {
    const Result<Trace> strict = read(text, {.file = "t"});
    const Result<Trace> lenient = read(text, {.file = "t", .skip_bad = true});
    if (strict) {
      CHECK(lenient.has_value() && lenient->jobs.size() == strict->jobs.size());
    }
    if (lenient) {
      check_trace(*lenient);
      check_replay(*lenient);
    }
  }
}

}  // namespace
}  // namespace codeflare::cli::simulate

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  codeflare::cli::simulate::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
