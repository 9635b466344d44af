#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "controllers/dispatch/worker_clients.h"
#include "kube/client.h"
#include "model/app_wrapper.h"

#include <memory>
#include <string>

namespace codeflare::controllers::view {

// Where the pods of an AppWrapper are.
struct WorkPods {
  // Of this cluster, or of the worker; the latter is kept alive by `held`.
  kube::Client* client = nullptr;
  std::shared_ptr<kube::Client> held{};
  std::string cluster{};   // empty: this one
  std::string selector{};  // label selector in the namespace of the AppWrapper
};

// `workers` may be null. An AppWrapper without a plan that has run on a worker has its copy there
// until it is deleted: the first worker that has it. Fails when the worker is not managed any more,
// or holds another AppWrapper under the name.
Task<Result<WorkPods>> find_work_pods(kube::Client& client, const dispatch::WorkerClients* workers,
                                      model::AppWrapper wrapper);

}  // namespace codeflare::controllers::view
