#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/gather/view_api.h"
#include "cli/session/session.h"
#include "cli/views/work_view.h"
#include "cli/views/wrapper_view.h"
#include "model/pod.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::cli {

// The pods of an AppWrapper, and the client that reads their logs: the session's own, or one that
// asks the controller for pods on a worker.
struct FoundPods {
  std::vector<model::Pod> pods{};
  std::shared_ptr<WorkPodClient> elsewhere{};  // null: they are in the session's cluster

  kube::Client& client(Session& session) const {
    return elsewhere == nullptr ? session.client() : elsewhere->client();
  }
};
Task<Result<FoundPods>> find_pods(Session& session, GroupedWrapper wrapper);

// The pods of an AppWrapper.
Task<Result<std::vector<model::Pod>>> list_pods(Session& session, GroupedWrapper wrapper);

// The newest Event against these pods, or against items that could not make pods:
// "pod train-x: FailedMount: ...". Empty: nothing, or the user may not list Events.
Task<std::string> find_warning(Session& session, GroupedWrapper wrapper,
                               std::vector<model::Pod> pods);

// How an AppWrapper fares that was dispatched.
Task<Result<Work>> gather_work(Session& session, GroupedWrapper wrapper);

}  // namespace codeflare::cli
