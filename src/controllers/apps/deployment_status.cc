#include "controllers/apps/deployment_status.h"

#include "model/condition.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

constexpr std::string_view kProgressing = "Progressing";
constexpr std::string_view kAllAvailable = "NewReplicaSetAvailable";
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";
constexpr std::string_view kPaused = "DeploymentPaused";

enum class Same : std::uint8_t { leave, touch };

// One of the same status and reason is left alone, or only gets a new time and text.
void put(std::vector<model::Condition>& conditions, model::Condition wanted, WallTime now,
         Same same = Same::leave) {
  wanted.last_update_time = now;
  wanted.last_transition_time = now;
  if (const model::Condition* before = model::find_condition(conditions, wanted.type)) {
    if (before->status == wanted.status) {
      if (before->reason == wanted.reason && same == Same::leave) {
        return;
      }
      wanted.last_transition_time = before->last_transition_time;
    }
    model::remove_condition(conditions, wanted.type);
  }
  conditions.push_back(std::move(wanted));
}

std::optional<std::chrono::seconds> deadline(const model::Deployment& deployment) {
  const auto& seconds = deployment.spec.progress_deadline_seconds;
  if (!seconds || *seconds == std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return std::chrono::seconds(*seconds);
}

bool has_progressed(const model::DeploymentStatus& before, const model::DeploymentStatus& now) {
  return now.updated_replicas > before.updated_replicas ||
         now.replicas - now.updated_replicas < before.replicas - before.updated_replicas ||
         now.ready_replicas > before.ready_replicas ||
         now.available_replicas > before.available_replicas;
}

bool timed_out(const model::Deployment& deployment, const model::Condition* progressing,
               WallTime now) {
  if (progressing == nullptr || progressing->reason == kAllAvailable) {
    return false;
  }
  return progressing->reason == kTimedOut ||
         progressing->last_update_time.value_or(now) + *deadline(deployment) < now;
}

void judge_pause(const model::Deployment& deployment, std::vector<model::Condition>& conditions,
                 WallTime now) {
  const model::Condition* progressing = model::find_condition(conditions, kProgressing);
  if (progressing != nullptr && progressing->reason == kTimedOut) {
    return;  // that it did not progress stays the news
  }
  const bool said = progressing != nullptr && progressing->reason == kPaused;
  if (deployment.spec.paused && !said) {
    put(conditions,
        {.type = std::string(kProgressing),
         .status = "Unknown",
         .reason = std::string(kPaused),
         .message = "Deployment is paused"},
        now);
  } else if (!deployment.spec.paused && said) {
    put(conditions,
        {.type = std::string(kProgressing),
         .status = "Unknown",
         .reason = "DeploymentResumed",
         .message = "Deployment is resumed"},
        now);
  }
}

void judge_progress(const model::Deployment& deployment, const DeploymentSets& sets,
                    model::DeploymentStatus& status, WallTime now) {
  const model::Condition* progressing = model::find_condition(status.conditions, kProgressing);
  if (status.replicas == status.updated_replicas && progressing != nullptr &&
      progressing->reason == kAllAvailable) {
    return;  // the rollout was over before; pods that come and go are none
  }
  const std::string who = sets.newest() != nullptr
                              ? "ReplicaSet \"" + sets.newest()->set.metadata.name + "\""
                              : "Deployment \"" + deployment.metadata.name + "\"";
  model::Condition wanted{.type = std::string(kProgressing), .status = "True"};
  Same same = Same::leave;
  if (complete(deployment, status)) {
    wanted.reason = kAllAvailable;
    wanted.message = who + " has successfully progressed.";
  } else if (has_progressed(deployment.status, status)) {
    wanted.reason = "ReplicaSetUpdated";
    wanted.message = who + " is progressing.";
    same = Same::touch;
  } else if (timed_out(deployment, progressing, now)) {
    wanted.status = "False";
    wanted.reason = kTimedOut;
    wanted.message = who + " has timed out progressing.";
  } else {
    return;
  }
  put(status.conditions, std::move(wanted), now, same);
}

// The Deployment also reports why a set cannot make pods.
void take_over_failures(const DeploymentSets& sets, std::vector<model::Condition>& conditions) {
  constexpr std::string_view kFailure = "ReplicaFailure";
  const model::Condition* failure = nullptr;
  if (sets.newest() != nullptr) {
    failure = model::find_condition(sets.newest()->set.status.conditions, kFailure);
  }
  for (const DeploymentSets::Entry* entry : sets.all()) {
    if (failure == nullptr) {
      failure = model::find_condition(entry->set.status.conditions, kFailure);
    }
  }
  if (failure == nullptr) {
    model::remove_condition(conditions, kFailure);
    return;
  }
  put(conditions,
      {.type = failure->type,
       .status = failure->status,
       .reason = failure->reason,
       .message = failure->message},
      failure->last_transition_time.value_or(WallTime()));
}

}  // namespace

bool complete(const model::Deployment& deployment, const model::DeploymentStatus& status) {
  const std::int32_t replicas = deployment.spec.replicas.value_or(1);
  return status.updated_replicas == replicas && status.replicas == replicas &&
         status.available_replicas == replicas &&
         status.observed_generation >= deployment.metadata.generation;
}

model::DeploymentStatus status_of(const model::Deployment& deployment, const DeploymentSets& sets,
                                  const Rollout& rollout, WallTime now) {
  model::DeploymentStatus status = deployment.status;
  status.observed_generation = deployment.metadata.generation;
  status.replicas = 0;
  status.ready_replicas = 0;
  for (const DeploymentSets::Entry* entry : sets.all()) {
    status.replicas += entry->set.status.replicas;
    status.ready_replicas += entry->set.status.ready_replicas;
  }
  status.updated_replicas = sets.newest() == nullptr ? 0 : sets.newest()->set.status.replicas;
  status.available_replicas = sets.available();
  status.unavailable_replicas = std::max(0, sets.total() - status.available_replicas);
  if (rollout.collisions > 0) {
    status.collision_count = rollout.collisions;
  }
  const bool enough = status.available_replicas >=
                      deployment.spec.replicas.value_or(1) - leeway(deployment).unavailable;
  put(status.conditions,
      {.type = "Available",
       .status = enough ? "True" : "False",
       .reason = enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
       .message = enough ? "Deployment has minimum availability."
                         : "Deployment does not have minimum availability."},
      now);
  if (!deadline(deployment)) {
    model::remove_condition(status.conditions, kProgressing);
  } else {
    judge_pause(deployment, status.conditions, now);
    if (rollout.created) {
      put(status.conditions,
          {.type = std::string(kProgressing),
           .status = "True",
           .reason = "NewReplicaSetCreated",
           .message = "Created new replica set \"" + *rollout.created + "\""},
          now);
    } else if (rollout.judge_progress) {
      if (sets.newest() != nullptr &&
          model::find_condition(status.conditions, kProgressing) == nullptr) {
        put(status.conditions,
            {.type = std::string(kProgressing),
             .status = "True",
             .reason = "FoundNewReplicaSet",
             .message = "Found new replica set \"" + sets.newest()->set.metadata.name + "\""},
            now);
      }
      judge_progress(deployment, sets, status, now);
    }
  }
  take_over_failures(sets, status.conditions);
  return status;
}

std::optional<Duration> until_deadline(const model::Deployment& deployment,
                                       const model::DeploymentStatus& status, WallTime now) {
  const model::Condition* progressing = model::find_condition(status.conditions, kProgressing);
  if (!deadline(deployment) || deployment.spec.paused || progressing == nullptr ||
      progressing->reason == kTimedOut || progressing->reason == kAllAvailable ||
      complete(deployment, status)) {
    return std::nullopt;
  }
  // A second more: times in a status are whole seconds.
  const Duration left = progressing->last_update_time.value_or(now) + *deadline(deployment) - now +
                        std::chrono::seconds(1);
  return std::max<Duration>(left, std::chrono::seconds(1));
}

}  // namespace codeflare::controllers::apps
