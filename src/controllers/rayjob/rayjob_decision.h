#pragma once

#include "base/time.h"
#include "model/job.h"
#include "model/ray_cluster.h"
#include "model/ray_job.h"
#include "model/service.h"
#include "ray/job.h"
#include "runtime/reconciler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::rayjob {

// A dashboard's report about a submission id.
struct Report {
  enum class Kind : std::uint8_t { unknown, absent, present };
  Kind kind = Kind::unknown;  // unknown: there was no answer, or nobody asked
  ray::Job job{};
};

// A RayJob with what belongs to it, as the caches and its dashboard show it.
struct Observed {
  model::RayJob job;
  bool deleting = false;
  bool has_finalizer = false;
  // Those of the name in the status, also while they are being deleted.
  std::optional<model::RayCluster> cluster;
  std::optional<model::Job> submitter;
  std::optional<model::Service> service;  // the RayJob's own, not the cluster's
  Report report{};
  std::string suffix{};  // five fresh characters, for names
};

struct Desired {
  bool add_finalizer = false;
  bool remove_finalizer = false;
  bool stop_ray_job = false;  // if the dashboard answers
  bool submit_ray_job = false;
  bool create_cluster = false;
  bool delete_cluster = false;
  bool create_submitter = false;
  bool delete_submitter = false;
  bool write_service = false;                 // create it, or point it to the cluster of now
  std::optional<model::RayJobStatus> status;  // absent: leave it
  std::vector<runtime::EventNote> events;
  std::optional<Duration> look_again;
};

// Whether the next decision depends on what the dashboard says.
bool needs_report(const Observed& observed);

// The decision of the KubeRay operator 1.5. Pure.
//  - New, Initializing (cluster), Running (submitted), then Complete or Failed; in InteractiveMode
//    Waiting comes before Running, until somebody has written spec.jobId.
//  - The names of cluster and submission are in the status before either is made: nothing is made
//    or submitted twice.
//  - The end is Ray's word, and that of the submitter, whose log is then complete.
//  - Retrying and Suspending remove cluster and submitter before the next word.
// Unlike there: a selected cluster is never deleted, and a retry on it has another submission id; a
// submitter that somebody deleted is made anew; a deadline stops the Ray job and counts while
// Waiting too; a late look at a submitter that ended asks Ray before it gives up.
Desired decide(const Observed& observed, WallTime now);

}  // namespace codeflare::controllers::rayjob
