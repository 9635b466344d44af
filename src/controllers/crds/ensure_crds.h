#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/client.h"

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::controllers {

struct CrdOptions {
  bool legacy_group = false;  // also AppWrappers of mcad.ibm.com
  bool ray_cluster = false;   // also RayClusters and RayJobs, unless others have defined them
  Duration timeout = std::chrono::seconds(30);
};

struct CrdReport {
  std::vector<std::string> applied;
  // Definitions of others, which serve as well: KubeRay's kinds.
  std::vector<std::string> left_alone;
};

// Applies the definitions that this program needs and waits until the server serves them. One that
// somebody else defined with a version which ours does not have is `failed_precondition`: taking it
// over would lose that version's objects. Without the right to change definitions, those that are
// there already will do. The client outlives the task.
Task<Result<CrdReport>> ensure_crds(kube::Client& client, CrdOptions options);

}  // namespace codeflare::controllers
