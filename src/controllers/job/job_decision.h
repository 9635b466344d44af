#pragma once

#include "base/time.h"
#include "controllers/job/job_pods.h"
#include "model/job.h"
#include "runtime/reconciler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::job {

// A Job and its pods as the caches show them.
struct Observed {
  // Absent when the Job is gone: then its pods only have to be let go.
  std::optional<model::Job> job;
  std::string ns;
  std::vector<PodDigest> pods;
};

// Where things should go from there.
struct Desired {
  std::optional<model::JobStatus> status;  // absent: leave it as it is
  std::vector<std::int64_t> create;        // one pod each, with this completion index; -1: none
  std::vector<PodDigest> give_up;          // removed without being counted (suspend, scale down)
  std::vector<PodDigest> stop;             // removed, and counted as failed
  std::vector<PodDigest> release;          // counted once the status is written: finalizer goes
  bool expired = false;                    // ttlSecondsAfterFinished is over: the Job goes
  std::vector<runtime::EventNote> events;
  std::optional<Duration> look_again;
};

// The decision of the Job controller of Kubernetes 1.34. Pure.
//
// Every pod's end is counted exactly once, whoever deletes pods and whenever this process dies: a
// pod keeps its finalizer until its UID is in status.uncountedTerminatedPods, and a UID leaves that
// list for the counters only when its pod has no finalizer any more. A Job that is over is never
// counted again, so its last counts are written directly with the terminal condition and the
// finalizers go afterwards.
Desired decide(const Observed& observed, WallTime now);

// How long to wait before the next pod after `failures` in a row: 10 s, 20 s, ... 10 min.
Duration failure_backoff(std::int64_t failures);

}  // namespace codeflare::controllers::job
