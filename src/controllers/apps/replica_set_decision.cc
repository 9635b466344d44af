#include "controllers/apps/replica_set_decision.h"

#include "controllers/apps/pods_to_delete.h"
#include "model/labels.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

// At most so many pods are made or removed at once.
constexpr std::size_t kBurst = 500;

struct Claimed {
  std::vector<WorkloadPod> active;
  std::vector<WorkloadPod> adopt;
  std::vector<WorkloadPod> release;
};

Claimed claim(const ObservedReplicaSet& observed, const model::Selector& selector) {
  Claimed claimed;
  for (const WorkloadPod& pod : observed.pods) {
    if (!pod.active()) {
      continue;
    }
    (selector.matches(pod.labels) ? claimed.active : claimed.release).push_back(pod);
  }
  for (const WorkloadPod& pod : observed.orphans) {
    if (pod.active() && selector.matches(pod.labels)) {
      claimed.active.push_back(pod);
      claimed.adopt.push_back(pod);
    }
  }
  return claimed;
}

model::ReplicaSetStatus status_of(const model::ReplicaSet& set,
                                  const std::vector<WorkloadPod>& active, WallTime now) {
  const auto labelled = model::Selector::of_labels(set.spec.pod_template.metadata.labels);
  model::ReplicaSetStatus status = set.status;
  status.replicas = static_cast<std::int32_t>(active.size());
  status.fully_labeled_replicas = 0;
  status.ready_replicas = 0;
  status.available_replicas = 0;
  for (const WorkloadPod& pod : active) {
    status.fully_labeled_replicas += labelled.matches(pod.labels) ? 1 : 0;
    status.ready_replicas += pod.ready ? 1 : 0;
    status.available_replicas += pod.available(set.spec.min_ready_seconds, now) ? 1 : 0;
  }
  status.observed_generation = set.metadata.generation;
  return status;
}

}  // namespace

DesiredReplicaSet decide(const ObservedReplicaSet& observed, WallTime now) {
  const model::ReplicaSet& set = observed.set;
  const Result<model::Selector> selector = model::to_selector(set.spec.selector);
  if (!selector) {
    return {};  // the server does not let such a set in
  }
  DesiredReplicaSet desired;
  Claimed claimed;
  if (set.metadata.deleting()) {
    // Its pods go with it or are left behind; only the counts follow.
    std::ranges::copy_if(observed.pods, std::back_inserter(claimed.active), &WorkloadPod::active);
  } else {
    claimed = claim(observed, *selector);
    const auto wanted = static_cast<std::size_t>(std::max(0, set.spec.replicas.value_or(1)));
    const std::size_t have = claimed.active.size();
    if (have < wanted) {
      desired.create = std::min(wanted - have, kBurst);
    } else if (have > wanted) {
      desired.remove = pods_to_delete(claimed.active, std::min(have - wanted, kBurst),
                                      observed.pods_on_node, now);
    }
  }
  const model::ReplicaSetStatus status = status_of(set, claimed.active, now);
  if (status != set.status) {
    desired.status = status;
  }
  desired.adopt = std::move(claimed.adopt);
  desired.release = std::move(claimed.release);
  const Duration wait = until_next_available(claimed.active, set.spec.min_ready_seconds, now);
  if (wait > Duration(0)) {
    desired.look_again = wait;
  }
  return desired;
}

}  // namespace codeflare::controllers::apps
