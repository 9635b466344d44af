#pragma once

#include "controllers/apps/deployment_sets.h"

#include <optional>
#include <string>

namespace codeflare::controllers::apps {

// The state of the rollout, for the condition Progressing.
struct Rollout {
  bool judge_progress = false;         // no scaling and no pause is going on
  std::optional<std::string> created;  // name of the set that this step makes
  std::int32_t collisions = 0;
};

model::DeploymentStatus status_of(const model::Deployment& deployment, const DeploymentSets& sets,
                                  const Rollout& rollout, WallTime now);

// Every pod is of the new template and available, as far as this status says.
bool complete(const model::Deployment& deployment, const model::DeploymentStatus& status);

// When the progress deadline has to be looked at again, if it has to.
std::optional<Duration> until_deadline(const model::Deployment& deployment,
                                       const model::DeploymentStatus& status, WallTime now);

}  // namespace codeflare::controllers::apps
