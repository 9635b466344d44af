#pragma once

#include "app/flags/controller_flags.h"
#include "base/async/task.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/raycluster/kuberay_present.h"
#include "kube/client.h"

#include <memory>

// Checks that `codeflare controller` makes before it starts: which kinds the cluster serves, and
// what this controller may do.
namespace codeflare {

using KubeRay = std::shared_ptr<controllers::raycluster::KubeRayWatch>;

// The watch for a KubeRay operator, or null when this controller ignores RayClusters. Two
// controllers must not run the same RayClusters.
Task<Result<KubeRay>> look_for_kuberay(kube::Client& client, const ControllerFlags& flags,
                                       Logger logger);

// Ray's kinds that this controller runs.
struct RayKinds {
  bool clusters = false;
  bool jobs = false;
  bool has_operator = false;  // KubeRay brings its own definitions
};

// The kinds that we watch are there, or the error says what to do.
Task<Result<void>> prepare(kube::Client& client, const ControllerFlags& flags,
                           controllers::QueueControllersOptions& options, RayKinds& ray,
                           Logger logger);

// Without the right wrapped objects cannot be created in the name of whoever submitted them.
Task<Result<void>> check_impersonation(kube::Client& client, Logger logger);

// TrainingJobs are ours unless switched off or not installed.
Task<Result<bool>> runs_training_jobs(kube::Client& client, const ControllerFlags& flags,
                                      Logger logger);

// Usage is counted where TrainingJobs run. Pods that have the finalizer are counted also when new
// ones get none.
Task<Result<bool>> counts_usage(kube::Client& client, bool training_jobs, Logger logger);

// Kinds of others that providers of machines need.
struct MachineKinds {
  bool provisioning_requests = false;
  bool machine_sets = false;
};

// The kinds that are served. Without the rights they count as absent.
Task<Result<MachineKinds>> find_machine_kinds(kube::Client& client, Logger logger);

}  // namespace codeflare
