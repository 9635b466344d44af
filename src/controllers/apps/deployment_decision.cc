#include "controllers/apps/deployment_decision.h"

#include "controllers/apps/deployment_sets.h"
#include "controllers/apps/deployment_status.h"
#include "controllers/apps/template_hash.h"
#include "model/labels.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

constexpr std::size_t kNameMax = 63;
constexpr std::size_t kHistoryMax = 2000;  // of the annotation, in characters

bool is_recreate(const model::Deployment& deployment) {
  return deployment.spec.strategy.type == "Recreate";
}

std::int32_t wanted_replicas(const model::Deployment& deployment) {
  return deployment.spec.replicas.value_or(1);
}

// A number or a percentage of the replicas, rounded up or down.
std::int32_t resolve(const std::optional<model::IntOrString>& value, std::int32_t replicas,
                     bool up) {
  // The server defaults both to 25%.
  const model::IntOrString given = value.value_or(model::IntOrString::of(std::string("25%")));
  if (!given.is_text) {
    return std::max(0, given.number);
  }
  std::int64_t percent = 0;
  std::from_chars(given.text.data(), given.text.data() + given.text.size(), percent);
  return static_cast<std::int32_t>((percent * replicas + (up ? 99 : 0)) / 100);
}

// --- the new set
// ----------------------------------------------------------------------------------

bool is_copied(std::string_view annotation) {
  return annotation != kRevision && annotation != kRevisionHistory &&
         annotation != kDesiredReplicas && annotation != kMaxReplicas &&
         annotation != "kubectl.kubernetes.io/last-applied-configuration" &&
         annotation != "deprecated.deployment.rollback.to";
}

void remember_revision(model::ReplicaSet& set, std::int64_t was) {
  std::string history(model::find_or_empty(set.metadata.annotations, kRevisionHistory));
  history += (history.empty() ? "" : ",") + std::to_string(was);
  while (history.size() > kHistoryMax && history.contains(',')) {
    history.erase(0, history.find(',') + 1);
  }
  annotate(set, kRevisionHistory, std::move(history));
}

// Annotations, revision and readiness of the set that has the Deployment's template.
void describe_new(const model::Deployment& deployment, std::int64_t revision,
                  model::ReplicaSet& set) {
  for (const auto& [key, value] : deployment.metadata.annotations) {
    if (is_copied(key)) {
      annotate(set, key, value);
    }
  }
  const std::int64_t before = revision_of(set);
  if (before < revision) {
    if (before > 0) {
      remember_revision(set, before);  // a rollback to it
    }
    annotate(set, kRevision, std::to_string(revision));
  }
  set.spec.min_ready_seconds = deployment.spec.min_ready_seconds;
}

std::int64_t next_revision(DeploymentSets& sets) {
  std::int64_t highest = 0;
  for (const DeploymentSets::Entry* entry : sets.old()) {
    highest = std::max(highest, revision_of(entry->set));
  }
  return highest + 1;
}

// How many the new set may have now, when it has `has`.
std::int32_t room_for_new(const model::Deployment& deployment, const DeploymentSets& sets,
                          std::int32_t has) {
  const std::int32_t wanted = wanted_replicas(deployment);
  if (is_recreate(deployment)) {
    return wanted;
  }
  const std::int32_t room = wanted + leeway(deployment).surge - sets.total();
  return room <= 0 ? has : has + std::min(room, wanted - has);
}

std::string set_name(const model::Deployment& deployment, const std::string& hash) {
  return deployment.metadata.name.substr(0, kNameMax - 1 - hash.size()) + "-" + hash;
}

// Makes the new set, or counts a collision when its name stands for another template.
void make_new(const ObservedDeployment& observed, DeploymentSets& sets, DesiredDeployment& desired,
              Rollout& rollout) {
  const model::Deployment& deployment = observed.deployment;
  const std::int32_t collisions = deployment.status.collision_count.value_or(0);
  const std::string hash = template_hash(deployment.spec.pod_template, collisions);
  const std::string name = set_name(deployment, hash);
  const bool own = std::ranges::any_of(
      observed.sets, [&](const model::ReplicaSet& set) { return set.metadata.name == name; });
  if (own || observed.taken.contains(name)) {
    rollout.collisions = collisions + 1;
    return;
  }
  model::ReplicaSet set;
  set.metadata.name = name;
  set.metadata.ns = deployment.metadata.ns;
  set.spec.pod_template = deployment.spec.pod_template;
  set.spec.pod_template.metadata.labels.insert_or_assign(std::string(kTemplateHashLabel), hash);
  set.metadata.labels = set.spec.pod_template.metadata.labels;
  set.spec.selector = deployment.spec.selector;
  set.spec.selector->match_labels.insert_or_assign(std::string(kTemplateHashLabel), hash);
  const std::int64_t revision = next_revision(sets);
  describe_new(deployment, revision, set);
  annotate_size(deployment, set);
  set.spec.replicas = room_for_new(deployment, sets, 0);
  if (*set.spec.replicas > 0) {
    desired.events.push_back({.reason = "ScalingReplicaSet",
                              .message = "Scaled up replica set " + name + " from 0 to " +
                                         std::to_string(*set.spec.replicas)});
  }
  rollout.created = name;
  desired.revision = std::to_string(revision);
  desired.create = std::move(set);
}

// --- strategies
// -----------------------------------------------------------------------------------

// True when the new set was scaled.
bool scale_new(const model::Deployment& deployment, DeploymentSets& sets) {
  DeploymentSets::Entry& newest = *sets.newest();
  const std::int32_t wanted = wanted_replicas(deployment);
  const std::int32_t has = newest.replicas();
  const std::int32_t next = has > wanted ? wanted : room_for_new(deployment, sets, has);
  if (next == has) {
    return false;
  }
  sets.scale(newest, next);
  return true;
}

// Gives up old pods: first those that are of no use anyhow, then as many as the availability that
// is promised leaves over.
void scale_old(const model::Deployment& deployment, DeploymentSets& sets) {
  const std::int32_t least = wanted_replicas(deployment) - leeway(deployment).unavailable;
  const DeploymentSets::Entry& newest = *sets.newest();
  const std::int32_t new_unavailable = newest.replicas() - newest.set.status.available_replicas;
  std::int32_t spare = sets.total() - least - new_unavailable;
  if (spare <= 0) {
    return;
  }
  for (DeploymentSets::Entry* old : sets.old()) {
    const std::int32_t useless = old->replicas() - old->set.status.available_replicas;
    const std::int32_t part = std::min(spare, useless);
    if (part > 0) {
      sets.scale(*old, old->replicas() - part);
      spare -= part;
    }
  }
  std::int32_t surplus = sets.available() - least;
  for (DeploymentSets::Entry* old : sets.old()) {
    const std::int32_t part = std::min(surplus, old->replicas());
    if (part > 0) {
      sets.scale(*old, old->replicas() - part);
      surplus -= part;
    }
  }
}

void roll(const ObservedDeployment& observed, DeploymentSets& sets, DesiredDeployment& desired,
          Rollout& rollout) {
  if (sets.newest() == nullptr) {
    make_new(observed, sets, desired, rollout);
  } else if (!scale_new(observed.deployment, sets)) {
    scale_old(observed.deployment, sets);
  }
}

void recreate(const ObservedDeployment& observed, DeploymentSets& sets, DesiredDeployment& desired,
              Rollout& rollout) {
  bool gone = true;
  for (DeploymentSets::Entry* old : sets.old()) {
    if (old->active()) {
      sets.scale(*old, 0);
      gone = false;
    }
    gone = gone && old->set.status.replicas == 0 &&
           !observed.with_pods.contains(old->set.metadata.uid);
  }
  if (!gone) {
    return;
  }
  if (sets.newest() == nullptr) {
    make_new(observed, sets, desired, rollout);
  } else if (sets.newest()->replicas() != wanted_replicas(observed.deployment)) {
    sets.scale(*sets.newest(), wanted_replicas(observed.deployment));
  }
}

// --- the step
// -------------------------------------------------------------------------------------

// The Deployment's size was changed since its sets were last scaled.
bool was_resized(const model::Deployment& deployment, DeploymentSets& sets) {
  const std::string wanted = std::to_string(wanted_replicas(deployment));
  return std::ranges::any_of(sets.active(), [&](const DeploymentSets::Entry* entry) {
    const std::string_view said =
        model::find_or_empty(entry->set.metadata.annotations, kDesiredReplicas);
    return !said.empty() && said != wanted;
  });
}

void forget_history(const model::Deployment& deployment, DeploymentSets& sets,
                    DesiredDeployment& desired) {
  if (!deployment.spec.revision_history_limit) {
    return;
  }
  std::vector<DeploymentSets::Entry*> old = sets.old();
  const auto limit = static_cast<std::size_t>(std::max(0, *deployment.spec.revision_history_limit));
  if (old.size() <= limit) {
    return;
  }
  std::ranges::sort(old, {}, [](const DeploymentSets::Entry* entry) {
    return std::pair(revision_of(entry->set), entry);  // of equal ones the older first
  });
  old.resize(old.size() - limit);
  for (const DeploymentSets::Entry* entry : old) {
    if (!entry->active() && entry->set.status.replicas == 0 &&
        entry->set.metadata.generation <= entry->set.status.observed_generation) {
      desired.remove.push_back(entry->set);
    }
  }
}

// Sets that are selected and nobody's, or ours and no longer selected. False when there were none.
bool claim(const ObservedDeployment& observed, const model::Selector& selector,
           DesiredDeployment& desired) {
  for (const model::ReplicaSet& set : observed.sets) {
    if (!set.metadata.deleting() && !selector.matches(set.metadata.labels)) {
      desired.release.push_back(set);
    }
  }
  for (const model::ReplicaSet& set : observed.orphans) {
    if (!set.metadata.deleting() && selector.matches(set.metadata.labels)) {
      desired.adopt.push_back(set);
    }
  }
  return !desired.release.empty() || !desired.adopt.empty();
}

void work_out(const ObservedDeployment& observed, DeploymentSets& sets, DesiredDeployment& desired,
              Rollout& rollout) {
  const model::Deployment& deployment = observed.deployment;
  if (DeploymentSets::Entry* newest = sets.newest()) {
    describe_new(deployment, next_revision(sets), newest->set);
    desired.revision = std::to_string(revision_of(newest->set));
  }
  const bool resized =
      was_resized(deployment, sets) && !(is_recreate(deployment) && sets.active().size() > 1);
  if (deployment.spec.paused || resized) {
    scale_in_proportion(deployment, sets);
  } else {
    rollout.judge_progress = true;
    if (is_recreate(deployment)) {
      recreate(observed, sets, desired, rollout);
    } else {
      roll(observed, sets, desired, rollout);
    }
  }
  if (deployment.spec.paused || complete(deployment, deployment.status)) {
    forget_history(deployment, sets, desired);
  }
}

}  // namespace

Leeway leeway(const model::Deployment& deployment) {
  if (is_recreate(deployment)) {
    return {};
  }
  const std::int32_t replicas = wanted_replicas(deployment);
  const auto& given = deployment.spec.strategy.rolling_update;
  Leeway found{
      .surge = resolve(given ? given->max_surge : std::nullopt, replicas, true),
      .unavailable = resolve(given ? given->max_unavailable : std::nullopt, replicas, false)};
  if (found.surge == 0 && found.unavailable == 0) {
    found.unavailable = 1;
  }
  found.unavailable = std::min(found.unavailable, replicas);
  return found;
}

DesiredDeployment decide(const ObservedDeployment& observed, WallTime now) {
  const model::Deployment& deployment = observed.deployment;
  const Result<model::Selector> selector = model::to_selector(deployment.spec.selector);
  DesiredDeployment desired;
  if (!selector || selector->selects_nothing()) {
    return desired;  // the server does not let such a Deployment in
  }
  if (!deployment.metadata.deleting() && claim(observed, *selector, desired)) {
    return desired;  // then look at all of them
  }
  DeploymentSets sets(deployment, observed.sets);
  Rollout rollout;
  if (!deployment.metadata.deleting()) {
    work_out(observed, sets, desired, rollout);
  }
  for (const DeploymentSets::Entry* entry : sets.all()) {
    if (entry->set != entry->before) {
      desired.update.push_back(entry->set);
    }
  }
  std::ranges::move(sets.events(), std::back_inserter(desired.events));
  if (desired.revision ==
      std::string(model::find_or_empty(deployment.metadata.annotations, kRevision))) {
    desired.revision.reset();
  }
  const model::DeploymentStatus status = status_of(deployment, sets, rollout, now);
  if (status != deployment.status) {
    desired.status = status;
  }
  desired.look_again = until_deadline(deployment, status, now);
  return desired;
}

}  // namespace codeflare::controllers::apps
