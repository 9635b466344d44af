#pragma once

#include "base/time.h"
#include "controllers/fakenode/pod_timeline.h"
#include "model/pod.h"

#include <string>

// The status that a kubelet would write for such a pod. Pure.
namespace codeflare::controllers::fakenode {

struct Addresses {
  std::string pod;
  std::string host;
};

// True when the status says already what the moment asks for.
bool shows(const model::Pod& pod, const Script& script, const Moment& moment);

model::PodStatus status_at(const model::Pod& pod, const Script& script, const Moment& moment,
                           WallTime bound, const Addresses& addresses);

// A pod that never ran or was stopped: Failed with this reason.
model::PodStatus failed_status(const model::Pod& pod, WallTime now, std::string reason,
                               std::string message);

}  // namespace codeflare::controllers::fakenode
