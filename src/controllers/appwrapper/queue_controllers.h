#pragma once

#include "base/async/task.h"
#include "base/log.h"
#include "controllers/appwrapper/status_machine.h"
#include "controllers/submitter/submitter.h"
#include "queue/queue.h"
#include "runtime/manager.h"

#include <functional>
#include <memory>
#include <string>

namespace codeflare::controllers {

class QueueDriver;
class RemoteCopies;

struct QueueControllersOptions {
  queue::QueueOptions queue{};
  MachineOptions machine{};
  // While queue.user_check is on: whose word about the submitter counts, in whose name then the
  // items are created. Off: nobody's, and they are created in our own.
  SubmitterTrust submitters{};
  bool legacy_group = false;   // AppWrappers of mcad.ibm.com too
  bool training_jobs = false;  // TrainingJobs wait in the queue too; their CRD is installed
  bool quota_subtrees = true;  // their CRD is installed
  std::string ns = "default";  // of the ConfigMap `codeflare-queue`
  // Caches of pods and nodes keep only what the queue needs. Off where other controllers of the
  // same manager look at them: all but managedFields.
  bool trim_caches = true;
  int workers = 32;
  // Applies our definitions when the server turns out to have others. Empty: they are left alone.
  std::function<Task<Result<void>>()> mend_definitions{};
  // Clusters beside this one; null: none. Lives as long as the manager.
  std::shared_ptr<RemoteCopies> copies{};
  Logger logger{};
  MetricsRegistry* metrics = nullptr;
};

// Adds the queue to a manager: AppWrappers (of both groups when asked for) and the status of
// QuotaSubtrees. Before other controllers that share caches of pods and nodes. The driver lives as
// long as the manager.
//   runtime::Manager manager(...); add_queue_controllers(manager, options);
std::shared_ptr<QueueDriver> add_queue_controllers(runtime::Manager& manager,
                                                   QueueControllersOptions options);

}  // namespace codeflare::controllers
