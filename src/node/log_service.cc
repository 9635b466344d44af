#include "node/log_service.h"

#include <algorithm>

namespace codeflare::node {

namespace {

constexpr std::string_view kDefaultContainer = "kubectl.kubernetes.io/default-container";

std::string names_of(const model::PodSpec& spec) {
  std::string text = "[";
  for (const model::Container& container : spec.containers) {
    text += (text.size() > 1 ? " " : "") + container.name;
  }
  return text + "]";
}

bool has_container(const model::PodSpec& spec, const std::string& name) {
  const auto in = [&](const std::vector<model::Container>& list) {
    return std::ranges::find(list, name, &model::Container::name) != list.end();
  };
  return in(spec.containers) || in(spec.init_containers);
}

Result<std::string> container_of(const model::Pod& pod, const LogRequest& request) {
  if (request.container.empty()) {
    if (pod.spec.containers.size() == 1) {
      return pod.spec.containers.front().name;
    }
    const auto named = model::find_or_empty(pod.metadata.annotations, kDefaultContainer);
    if (!named.empty()) {
      return std::string(named);
    }
    return fail(invalid_argument("a container name must be specified for pod " + pod.metadata.name +
                                 ", choose one of: " + names_of(pod.spec)));
  }
  if (!has_container(pod.spec, request.container)) {
    return fail(invalid_argument("container " + request.container + " is not valid for pod " +
                                 pod.metadata.name));
  }
  return request.container;
}

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
  TRY_ASSIGN(const std::string container, container_of(pod, request));
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
