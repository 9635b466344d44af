#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/log.h"
#include "controllers/dispatch/fence.h"
#include "model/key_map.h"
#include "queue/work.h"
#include "runtime/manager.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::controllers::dispatch {

struct GuardOptions {
  Duration look_every = std::chrono::seconds(3);
  Duration look_timeout = std::chrono::seconds(5);
  bool training_jobs = false;  // of TrainingJobs too; their CRD is installed
  Logger logger{};
};

// A worker's side of fences, for one kind of work: looks at the Leases of hubs while copies with a
// fence are here, and stops these copies (suspends them, with a mark) once their hub has been
// silent for too long. Without such copies it does nothing. Lives as long as the manager.
class FenceGuard {
 public:
  FenceGuard(runtime::Manager& manager, queue::WorkKind kind, GuardOptions options);
  Task<void> run();

 private:
  struct Copy {
    Fence fence;
    std::string hub;
  };
  using Whose = std::pair<std::string, std::string>;  // Lease and hub

  void copy_changed(const runtime::ObjectChange& change);
  Task<void> look();
  Task<void> look_at(Whose whose);
  Task<void> stop_expired();
  Task<Result<void>> stop(model::ObjectKey key);

  runtime::Manager& manager_;
  Env env_;
  GuardOptions options_;
  queue::WorkKind kind_;
  runtime::Informer& works_;
  model::KeyMap<Copy> copies_;  // that may run
  std::map<Whose, Renewals> renewals_;
  std::set<Whose> unread_;  // could not be read at the last look; each is logged once
  WaitList changed_;
};

// For every controller of AppWrappers and TrainingJobs: any cluster may be a worker.
void add_fence_guard(runtime::Manager& manager, GuardOptions options);

}  // namespace codeflare::controllers::dispatch
