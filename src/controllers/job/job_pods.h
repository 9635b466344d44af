#pragma once

#include "base/time.h"
#include "kube/object.h"
#include "model/gvk.h"
#include "runtime/informer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::job {

inline constexpr std::string_view kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kJobNameLabel = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kIndexKey = "batch.kubernetes.io/job-completion-index";

enum class Phase : std::uint8_t { pending, running, succeeded, failed };

// What a Job's decisions need to know of one of its pods.
struct PodDigest {
  std::string name;
  std::string uid;
  std::string owner_uid;  // of the Job that controls it; empty: nobody does any more
  Phase phase = Phase::pending;
  bool deleting = false;
  bool tracked = false;  // has the finalizer: its end is not yet counted
  bool ready = false;
  bool bound = false;
  std::int64_t index = -1;  // of completion
  std::int32_t restarts = 0;
  WallTime created{};
  WallTime ready_since{};
  WallTime ended{};  // for an ended or deleted one

  bool over() const { return phase == Phase::succeeded || phase == Phase::failed; }
  bool active() const { return !over() && !deleting; }
  bool terminating() const { return !over() && deleting; }
};

PodDigest digest_of(const kube::Object& pod);

// Whose pod this is: its controlling Job, or the one its labels name when it has none.
void job_of(const kube::Object& pod, std::vector<model::ObjectKey>& keys);

// The pods of each Job in digest form, kept in step with an informer: a Job with a thousand pods is
// looked at after each change of one of them, and must not read a thousand texts each time.
class JobPods {
 public:
  // Told after each change, with the number of pods that the Job has.
  using Changed = std::function<void(const model::ObjectKey& job, std::size_t pods)>;
  JobPods(runtime::Informer& pods, Changed changed);

  // In the order of their names.
  std::vector<PodDigest> of(const model::ObjectKey& job) const;

 private:
  void change(const runtime::ObjectChange& change);

  Changed changed_;
  std::map<model::ObjectKey, std::map<std::string, PodDigest>> by_job_;
  std::map<model::ObjectKey, model::ObjectKey> job_of_pod_;
};

}  // namespace codeflare::controllers::job
