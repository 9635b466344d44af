#include "node/agent/log_service.h"

#include "node/stream/container_choice.h"

#include <algorithm>

namespace codeflare::node {

namespace {

std::string waits_for(const model::Pod& pod, const std::string& container) {
  for (const auto* list : {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    const auto found = std::ranges::find(*list, container, &model::ContainerStatus::name);
    if (found != list->end() && found->state.waiting && !found->state.waiting->reason.empty()) {
      return found->state.waiting->reason;
    }
  }
  return "ContainerCreating";
}

}  // namespace

Result<net::Body> LogService::open(const model::Pod& pod, const LogRequest& request) const {
  TRY_ASSIGN(const std::string container, choose_container(pod, request.container));
  const std::string uid = pod.metadata.uid;
  const SandboxView* view = pods_.find(uid);
  const RunRecord* run = view == nullptr ? nullptr : view->state.last(container);
  const std::string which = "container \"" + container + "\" in pod \"" + pod.metadata.name + "\"";
  if (request.previous) {
    const RunRecord* before = run == nullptr ? nullptr : view->state.previous(container);
    if (before == nullptr) {
      return fail(invalid_argument("previous terminated " + which + " not found"));
    }
    run = before;
  }
  if (run == nullptr) {
    return fail(invalid_argument(which + " is waiting to start: " + waits_for(pod, container)));
  }
  LogQuery query{.directory = pods_.log_directory(uid, container),
                 .attempt = run->attempt,
                 .timestamps = request.timestamps,
                 .since = request.since,
                 .tail_lines = request.tail_lines,
                 .limit_bytes = request.limit_bytes};
  if (request.follow) {
    // Until the run is over, not until the container is: another run has another log.
    query.follow = [&pods = pods_, uid, container, attempt = run->attempt] {
      const SandboxView* now = pods.find(uid);
      const RunRecord* last = now == nullptr ? nullptr : now->state.last(container);
      return last != nullptr && last->attempt == attempt && !last->exited();
    };
  }
  return read_log(env_, files_, std::move(query));
}

}  // namespace codeflare::node
