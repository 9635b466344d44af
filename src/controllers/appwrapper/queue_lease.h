#pragma once

#include "base/env/env.h"
#include "queue/marks.h"
#include "runtime/leader_elector.h"

#include <string>
#include <string_view>

namespace codeflare::controllers {

// One queue works on a cluster: the one that holds this Lease. Its namespace has the ConfigMap
// `codeflare-queue` too, wherever the controller itself runs.

inline constexpr std::string_view kQueueLease = "codeflare-controller";

// A candidate for that Lease, with a name that says where it runs: "HOST_UUID", as client-go does.
runtime::LeaderOptions queue_candidate(Env env,
                                       std::string ns = std::string(queue::kControllerNamespace));

}  // namespace codeflare::controllers
