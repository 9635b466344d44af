#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "controllers/appwrapper/status_machine.h"
#include "kube/object.h"
#include "model/app_wrapper.h"
#include "model/training_job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::controllers {

struct CopyRemoval {
  std::string left{};  // in words; empty once the worker's server has no copy, or it has ended
  std::optional<model::AppWrapperStatus> ended{};      // of a copy that ended before it was deleted
  std::optional<model::TrainingJobStatus> training{};  // of one of a TrainingJob
};

// Work that has a copy, or will. It lives until the task ends that it is passed to.
struct RemoteWork {
  const model::AppWrapper& wrapper;         // of a TrainingJob: as_wrapper()
  const model::TrainingJob* job = nullptr;  // it is this TrainingJob
  std::int64_t size = 0;                    // of the TrainingJob, as its plan has it
};

// A TrainingJob as dispatch sees it: its name, marks, priority, plan and end.
model::AppWrapper as_wrapper(const model::TrainingJob& job);

// Work on other clusters: a copy of the hub's object on the worker that its plan names
// (docs/decisions/0016-many-clusters.md has the order of writes). The reconciler decides when, this
// does it. Every call may be repeated at any time, also by the next process.
class RemoteCopies {
 public:
  virtual ~RemoteCopies() = default;

  // The copy exists on the cluster and its queue may start it: writes 2 and 3. Only for one whose
  // plan there was written. Creation::Kind::elsewhere: the cluster will not take it.
  virtual Task<Result<Creation>> create(std::string cluster, RemoteWork work,
                                        kube::ObjectRef object) = 0;
  // The copy's status. Gives the copy the priority of the hub's object, and the bounds and the size
  // of a TrainingJob.
  virtual Task<Result<CopySeen>> look(std::string cluster, RemoteWork work) = 0;
  // Deletes the copy: write 6. A copy that has ended meanwhile is not deleted: its end counts,
  // unless the hub's object is being deleted or has ended itself.
  virtual Task<Result<CopyRemoval>> take_back(std::string cluster, RemoteWork work) = 0;
  // Copies of one that has ended, wherever a server answers; what is left, in words.
  virtual Task<Result<std::string>> remove_all(RemoteWork work) = 0;
  // The cluster did not start it in time: others first.
  virtual void avoid(const std::string& uid, const std::string& cluster) = 0;
  // The object is gone.
  virtual void forget(const std::string& uid) = 0;
};

// The worker that a plan names; empty for plans here and without one.
std::string remote_cluster(const model::AppWrapperStatus& status);

}  // namespace codeflare::controllers
