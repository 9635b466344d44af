#include "controllers/job/job_pods.h"

#include "model/codec/pod.h"
#include "model/condition.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace codeflare::controllers::job {

namespace {

std::int64_t index_of(std::string_view text) {
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() && index >= 0 ? index : -1;
}

// When the last container ended; nothing while one has not.
std::optional<WallTime> containers_ended(const model::PodStatus& status) {
  std::optional<WallTime> last;
  for (const model::ContainerStatus& container : status.container_statuses) {
    if (!container.state.terminated || !container.state.terminated->finished_at) {
      return std::nullopt;
    }
    last = std::max(last, container.state.terminated->finished_at);
  }
  return last;
}

WallTime ended(const model::Pod& pod) {
  if (const auto time = containers_ended(pod.status)) {
    return *time;
  }
  const model::Condition* ready = model::find_condition(pod.status.conditions, "Ready");
  if (ready != nullptr && ready->status == "False" && ready->last_transition_time) {
    return *ready->last_transition_time;
  }
  if (pod.metadata.deletion_timestamp) {
    return *pod.metadata.deletion_timestamp -
           std::chrono::seconds(pod.metadata.deletion_grace_period_seconds.value_or(0));
  }
  return pod.metadata.creation_timestamp.value_or(WallTime());
}

std::int32_t restarts(const model::PodStatus& status) {
  std::int64_t sum = 0;
  for (const auto* list : {&status.init_container_statuses, &status.container_statuses}) {
    for (const model::ContainerStatus& container : *list) {
      sum += container.restart_count;
    }
  }
  return static_cast<std::int32_t>(std::min<std::int64_t>(sum, INT32_MAX));
}

std::vector<PodExit> exits_of(const model::PodStatus& status) {
  std::vector<PodExit> exits;
  for (const auto* list : {&status.container_statuses, &status.init_container_statuses}) {
    for (const model::ContainerStatus& container : *list) {
      if (container.state.terminated) {
        exits.push_back({container.name, container.state.terminated->exit_code});
      }
    }
  }
  return exits;
}

std::vector<PodCondition> conditions_of(const model::PodStatus& status) {
  std::vector<PodCondition> conditions;
  for (const model::Condition& condition : status.conditions) {
    conditions.push_back({condition.type, condition.status});
  }
  return conditions;
}

bool is_job(const model::OwnerReference& owner) {
  return owner.kind == "Job" && owner.api_version.starts_with("batch/");
}

}  // namespace

PodDigest digest_of(const model::Pod& pod) {
  const model::PodFacts facts = model::facts_of(pod);
  PodDigest digest{.name = pod.metadata.name,
                   .uid = pod.metadata.uid,
                   .phase = facts.phase,
                   .deleting = facts.deleting,
                   .ready = facts.ready,
                   .bound = !pod.spec.node_name.empty(),
                   .restarts = restarts(pod.status),
                   .created = facts.created,
                   .ready_since = facts.ready_since};
  if (facts.controller != nullptr && is_job(*facts.controller)) {
    digest.owner_uid = facts.controller->uid;
  }
  digest.tracked = std::ranges::find(pod.metadata.finalizers, kTrackingFinalizer) !=
                   pod.metadata.finalizers.end();
  digest.index = index_of(model::find_or_empty(pod.metadata.annotations, kIndexKey));
  if (digest.over() || digest.deleting) {
    digest.ended = ended(pod);
  }
  // By a node that is done with a pod that never ran, by people who force, or for want of a node.
  digest.dropped =
      digest.terminating() && pod.metadata.deletion_grace_period_seconds.value_or(0) == 0;
  if (digest.phase == Phase::failed || digest.dropped) {
    digest.exits = exits_of(pod.status);
    digest.conditions = conditions_of(pod.status);
  }
  return digest;
}

std::optional<model::ObjectKey> job_of(const model::Pod& pod) {
  if (const model::OwnerReference* owner = model::controller_of(pod.metadata)) {
    return is_job(*owner) ? std::optional(model::ObjectKey{pod.metadata.ns, owner->name})
                          : std::nullopt;
  }
  const std::string_view name = model::find_or_empty(pod.metadata.labels, kJobNameLabel);
  return name.empty() ? std::nullopt
                      : std::optional(model::ObjectKey{pod.metadata.ns, std::string(name)});
}

std::optional<JobPods::Entry> read_job_pod(const runtime::ObjectChange& change,
                                           const PodDigest* /*before*/) {
  const Result<model::Pod>& pod = change.as<model::Pod>();
  const std::optional<model::ObjectKey> job = pod ? job_of(*pod) : std::nullopt;
  return job ? std::optional(JobPods::Entry{*job, digest_of(*pod)}) : std::nullopt;
}

}  // namespace codeflare::controllers::job
