#pragma once

#include "base/async/task.h"
#include "base/log.h"
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
  struct Shared {
    std::string name;
    std::vector<std::string> versions;  // of another program, kept
  };
  // Applied, and they have versions that this program does not serve.
  std::vector<Shared> shared;
};

// Applies the definitions that this program needs and waits until the server serves them. Versions
// that another program added stay as they are, beside ours. A definition that has other versions
// only is `failed_precondition`: taking it over would lose their objects. Without the right to
// change definitions, those that are there already will do. The client outlives the task.
Task<Result<CrdReport>> ensure_crds(kube::Client& client, CrdOptions options);

// One line for each definition that has versions of another program.
void log_shared(const CrdReport& report, const Logger& logger);

// The same once more for AppWrappers and quota, because somebody replaced a definition while we
// run. Fails also where one is left alone.
Task<Result<void>> mend_crds(kube::Client& client, bool legacy_group);

}  // namespace codeflare::controllers
