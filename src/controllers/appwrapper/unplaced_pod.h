#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/client.h"
#include "model/gvk.h"

#include <string>

namespace codeflare::controllers {

struct UnplacedPod {
  model::ObjectKey key;
  std::string uid;
  std::string why;
};

// Writes into the pod's status that no node was found for it, as kube-scheduler would. False when
// there was nothing to write: its status says so already, or it is bound, or another one has its
// name.
Task<Result<bool>> tell_unplaced(kube::Client& client, UnplacedPod pod, WallTime now);

}  // namespace codeflare::controllers
