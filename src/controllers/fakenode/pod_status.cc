#include "controllers/fakenode/pod_status.h"

#include "model/condition.h"
#include "model/pod_requests.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::fakenode {

namespace {

using model::Container;
using model::ContainerState;
using model::ContainerStatus;
using model::Pod;
using model::PodStatus;

constexpr std::int32_t kKilled = 137;

// As the wire has it, so that what is written is what is read again.
WallTime whole(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

std::string id_of(const Pod& pod, const Container& container) {
  return "fake://" + pod.metadata.uid + "/" + container.name;
}

ContainerStatus base_status(const Pod& pod, const Container& container) {
  ContainerStatus status;
  status.name = container.name;
  status.image = container.image;
  status.image_id = container.image;
  status.container_id = id_of(pod, container);
  return status;
}

ContainerState terminated(const Pod& pod, const Container& container, std::int32_t code,
                          WallTime began, WallTime ended) {
  ContainerState state;
  state.terminated = {.exit_code = code,
                      .reason = code == 0 ? "Completed" : "Error",
                      .started_at = whole(began),
                      .finished_at = whole(ended),
                      .container_id = id_of(pod, container)};
  return state;
}

ContainerState running(WallTime began) {
  ContainerState state;
  state.running = {.started_at = whole(began)};
  return state;
}

std::string_view phase_of(const Script& script, const Moment& moment) {
  switch (moment.stage) {
    case Moment::Stage::starting:
      return "Pending";
    case Moment::Stage::running:
    case Moment::Stage::backing_off:
      return "Running";
    case Moment::Stage::ended:
      return script.exit_code == 0 && !moment.past_deadline ? "Succeeded" : "Failed";
  }
  std::unreachable();
}

ContainerStatus container_at(const Pod& pod, const Container& container, const Script& script,
                             const Moment& moment) {
  ContainerStatus status = base_status(pod, container);
  status.restart_count = moment.restarts;
  const std::int32_t code = moment.past_deadline ? kKilled : script.exit_code;
  switch (moment.stage) {
    case Moment::Stage::starting:
      status.state.waiting = {.reason = "ContainerCreating"};
      break;
    case Moment::Stage::running:
      status.state = running(moment.began);
      status.ready = true;
      break;
    case Moment::Stage::backing_off:
      status.state.waiting = {.reason = "CrashLoopBackOff",
                              .message = "back-off restarting failed container"};
      status.last_state = terminated(pod, container, code, moment.began, moment.ended);
      break;
    case Moment::Stage::ended:
      status.state = terminated(pod, container, code, moment.began, moment.ended);
      break;
  }
  status.started = status.ready;
  return status;
}

ContainerStatus init_at(const Pod& pod, const Container& container, const Script& script,
                        const Moment& moment) {
  if (model::is_sidecar(container)) {
    return container_at(pod, container, script, moment);
  }
  ContainerStatus status = base_status(pod, container);
  status.started = false;
  status.ready = true;
  status.state = terminated(pod, container, 0, moment.began, moment.began);
  return status;
}

void set(PodStatus& status, const Pod& pod, std::string_view type, bool holds, WallTime since,
         std::string_view reason) {
  model::Condition condition{.type = std::string(type),
                             .status = holds ? "True" : "False",
                             .reason = holds ? "" : std::string(reason)};
  if (pod.metadata.generation > 0) {
    condition.observed_generation = pod.metadata.generation;
  }
  model::set_condition(status.conditions, condition, whole(since));
}

void set_conditions(PodStatus& status, const Pod& pod, const Script& script, const Moment& moment) {
  const bool up = moment.stage == Moment::Stage::running;
  const bool over = moment.stage == Moment::Stage::ended;
  const WallTime since = up ? moment.began : moment.ended;
  const std::string_view why = !over                   ? "ContainersNotReady"
                               : script.exit_code == 0 ? "PodCompleted"
                                                       : "PodFailed";
  set(status, pod, "PodReadyToStartContainers", !over, since, "");
  set(status, pod, "Initialized", true, moment.began, "");
  set(status, pod, "Ready", up, since, why);
  set(status, pod, "ContainersReady", up, since, why);
}

}  // namespace

bool shows(const Pod& pod, const Script& script, const Moment& moment) {
  const PodStatus& status = pod.status;
  if (moment.stage == Moment::Stage::starting) {
    return true;  // nothing is reported before it runs
  }
  if (status.phase != phase_of(script, moment)) {
    return false;
  }
  const bool up = moment.stage == Moment::Stage::running;
  return model::is_condition_true(status.conditions, "Ready") == up &&
         status.container_statuses.size() == pod.spec.containers.size() &&
         std::ranges::all_of(status.container_statuses, [&](const ContainerStatus& container) {
           return container.restart_count == moment.restarts &&
                  container.state.running.has_value() == up;
         });
}

PodStatus status_at(const Pod& pod, const Script& script, const Moment& moment, WallTime bound,
                    const Addresses& addresses) {
  PodStatus status = pod.status;
  status.phase = phase_of(script, moment);
  if (!status.start_time) {
    status.start_time = whole(bound);
  }
  if (pod.metadata.generation > 0) {
    status.observed_generation = pod.metadata.generation;
  }
  if (status.pod_ip.empty()) {
    status.host_ip = addresses.host;
    status.host_ips = {{.ip = addresses.host}};
    status.pod_ip = pod.spec.host_network ? addresses.host : addresses.pod;
    status.pod_ips = {{.ip = status.pod_ip}};
  }
  if (moment.past_deadline) {
    status.reason = "DeadlineExceeded";
    status.message = "Pod was active on the node longer than the specified deadline";
  }
  status.init_container_statuses.clear();
  for (const Container& container : pod.spec.init_containers) {
    status.init_container_statuses.push_back(init_at(pod, container, script, moment));
  }
  status.container_statuses.clear();
  for (const Container& container : pod.spec.containers) {
    status.container_statuses.push_back(container_at(pod, container, script, moment));
  }
  set_conditions(status, pod, script, moment);
  return status;
}

PodStatus failed_status(const Pod& pod, WallTime now, std::string reason, std::string message) {
  PodStatus status = pod.status;
  status.phase = "Failed";
  status.reason = std::move(reason);
  status.message = std::move(message);
  const WallTime began = status.start_time.value_or(now);
  status.container_statuses.clear();
  for (const Container& container : pod.spec.containers) {
    ContainerStatus one = base_status(pod, container);
    one.state = terminated(pod, container, kKilled, began, now);
    one.started = false;
    status.container_statuses.push_back(std::move(one));
  }
  set(status, pod, "Ready", false, now, "PodFailed");
  set(status, pod, "ContainersReady", false, now, "PodFailed");
  return status;
}

}  // namespace codeflare::controllers::fakenode
