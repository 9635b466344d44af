// The pods that have devices of the node, and those that wait for them.
#include "model/codec/pod.h"
#include "node/agent/pod_agent.h"

#include <algorithm>
#include <utility>

namespace codeflare::node {

namespace {

constexpr Duration kRetryDevices = std::chrono::seconds(1);
constexpr const char* kDevicesBusy = "DevicesBusy";

bool is_over(const model::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

}  // namespace

void PodAgent::give_back_devices(const std::string& uid) {
  if (const auto known = known_.find(uid); known != known_.end()) {
    known->second.gave_back = true;
  }
  if (!gpus_.has(uid)) {
    return;
  }
  gpus_.release(uid);
  for (auto& [other, known] : known_) {
    const auto waits = known.start_failures.find("");
    if (waits != known.start_failures.end() && waits->second.problem.reason == kDevicesBusy) {
      waker_.wake(known.key);
    }
  }
}

bool PodAgent::devices_will_come(const std::string& uid) const {
  return std::ranges::any_of(known_, [&](const auto& entry) {
    const auto& [other, known] = entry;
    if (other == uid || !gpus_.has(other)) {
      return false;
    }
    const runtime::ObjectRef object = informer_.store().get(known.key);
    const std::string phase = object == nullptr ? "" : object->string_at({"status", "phase"});
    return object == nullptr || object->uid() != other || object->deleting() ||
           phase == "Succeeded" || phase == "Failed";
  });
}

void PodAgent::take_devices(Known& known, const model::Pod& pod) {
  if (is_over(pod) || pod.metadata.deleting() || known.gave_back) {
    return;
  }
  Result<std::vector<DeviceGrant>> devices = gpus_.grant(pod);
  const auto waits = known.start_failures.find("");
  const bool waited =
      waits != known.start_failures.end() && waits->second.problem.reason == kDevicesBusy;
  if (devices) {
    known.devices = *std::move(devices);
    if (waited) {
      known.start_failures.erase(waits);
    }
  } else if (devices_will_come(pod.metadata.uid)) {
    StartProblem problem{kDevicesBusy, "waiting until a pod that ends has given back its devices"};
    if (!waited) {
      known.events.push_back({.reason = problem.reason, .message = problem.message});
    }
    known.start_failures.insert_or_assign(
        "", StartFailure{std::move(problem), env_.clock.wall() + kRetryDevices});
  } else {
    known.rejected = StartProblem{"UnexpectedAdmissionError", devices.error().message};
  }
}

}  // namespace codeflare::node
