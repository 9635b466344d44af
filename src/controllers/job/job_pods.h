#pragma once

#include "base/time.h"
#include "kube/object.h"
#include "model/gvk.h"
#include "model/pod_facts.h"
#include "runtime/index.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::job {

inline constexpr std::string_view kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kIndexKey = "batch.kubernetes.io/job-completion-index";

using Phase = model::PodPhase;

// How a container ended.
struct PodExit {
  std::string container;
  std::int64_t code = 0;
};

struct PodCondition {
  std::string type;
  std::string status;
  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

// The facts about one of its pods that a Job's decisions need.
struct PodDigest {
  std::string name;
  std::string uid;
  std::string owner_uid;  // of the Job that controls it; empty: nobody does any more
  Phase phase = Phase::pending;
  bool deleting = false;
  bool dropped = false;  // deleted without grace: nobody will report how it ends
  bool tracked = false;  // has the finalizer: its end is not yet counted
  bool ready = false;
  bool bound = false;
  std::int64_t index = -1;  // of completion
  std::int32_t restarts = 0;
  WallTime created{};
  WallTime ready_since{};
  WallTime ended{};  // for an ended or deleted one
  // Of a failed or dropped one, for spec.podFailurePolicy.
  std::vector<PodExit> exits{};
  std::vector<PodCondition> conditions{};

  bool over() const { return phase == Phase::succeeded || phase == Phase::failed; }
  bool active() const { return !over() && !deleting; }
  bool terminating() const { return !over() && deleting; }
};

PodDigest digest_of(const model::Pod& pod);

// Whose pod this is: its controlling Job, or the one its labels name when it has none.
std::optional<model::ObjectKey> job_of(const model::Pod& pod);

using JobPods = runtime::Index<model::ObjectKey, PodDigest>;  // by Job
std::optional<JobPods::Entry> read_job_pod(const runtime::ObjectChange& change,
                                           const PodDigest* before);

}  // namespace codeflare::controllers::job
