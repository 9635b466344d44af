#include "controllers/apps/stateful_set_decision.h"

#include "json/parse.h"
#include "model/labels.h"

#include <algorithm>
#include <map>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

// How far one step has come.
enum class Flow : std::uint8_t { go_on, wait };

struct Strategy {
  bool on_delete = false;
  std::int32_t partition = 0;
};

std::int64_t integer_at(const json::Value& value, std::initializer_list<std::string_view> path) {
  const json::Value* found = value.get(path);
  return found == nullptr ? 0 : found->to_int64().value_or(0);
}

Strategy strategy_of(const model::StatefulSet& set) {
  Strategy strategy;
  if (const auto read = json::parse(set.spec.update_strategy.text)) {
    strategy.on_delete = read->root.string_or_empty("type") == "OnDelete";
    strategy.partition =
        static_cast<std::int32_t>(integer_at(read->root, {"rollingUpdate", "partition"}));
  }
  return strategy;
}

std::int32_t first_ordinal(const model::StatefulSet& set) {
  const auto read = json::parse(set.spec.extra.find("ordinals"));
  return read ? static_cast<std::int32_t>(integer_at(read->root, {"start"})) : 0;
}

std::string_view revision_name(const WorkloadPod& pod) {
  return model::find_or_empty(pod.labels, kRevisionHashLabel);
}

// The work on one set, step by step; whatever has to be waited for ends it.
class Step {
 public:
  Step(const ObservedStatefulSet& observed, WallTime now, DesiredStatefulSet& desired)
      : observed_(observed),
        set_(observed.set),
        now_(now),
        desired_(desired),
        strategy_(strategy_of(set_)),
        first_(first_ordinal(set_)),
        replicas_(std::max(0, set_.spec.replicas.value_or(1))),
        ordered_(set_.spec.pod_management_policy != "Parallel"),
        revisions_(find_revisions(set_.metadata.name, set_.spec.pod_template, observed.revisions,
                                  set_.status.current_revision,
                                  set_.status.collision_count.value_or(0))) {
    for (const WorkloadPod& pod : observed.pods) {
      const std::int32_t ordinal = ordinal_of(pod.name, set_.metadata.name);
      if (ordinal >= first_ && ordinal < first_ + replicas_) {
        wanted_.emplace(ordinal, pod);
      } else if (ordinal >= 0) {
        condemned_.emplace(ordinal, pod);
      }
    }
  }

  void run() {
    if (!set_.metadata.deleting()) {
      record_revisions();
      if (fill() == Flow::go_on && shrink() == Flow::go_on && !strategy_.on_delete) {
        update();
      }
      forget_history();
    }
    write_status();
  }

 private:
  bool available(const WorkloadPod& pod) const {
    return pod.running && pod.available(set_.spec.min_ready_seconds, now_);
  }

  bool is_going(const WorkloadPod& pod) const {
    return std::ranges::find(desired_.remove, pod.name, &WorkloadPod::name) !=
           desired_.remove.end();
  }

  void record_revisions() {
    if (revisions_.create) {
      desired_.create_revision = revisions_.update;
    } else if (revisions_.renumber) {
      desired_.renumber = revisions_.update;
    }
  }

  // A pod that is missing is made of the revision that its ordinal has come to.
  const SetRevision& revision_for(std::int32_t ordinal) const {
    const bool kept_back = strategy_.partition > 0
                               ? ordinal < first_ + strategy_.partition
                               : ordinal < first_ + set_.status.current_replicas;
    return !strategy_.on_delete && kept_back ? revisions_.current : revisions_.update;
  }

  void make(std::int32_t ordinal) {
    for (model::PersistentVolumeClaim& claim : claims_of(set_, ordinal)) {
      if (!observed_.claims.contains(claim.metadata.name)) {
        desired_.create_claims.push_back(std::move(claim));
      }
    }
    desired_.create.push_back(stateful_pod(set_, revision_for(ordinal), ordinal));
  }

  // Every ordinal has its pod; in order, each waits until the one before it is available.
  Flow fill() {
    for (std::int32_t ordinal = first_; ordinal < first_ + replicas_; ++ordinal) {
      const auto found = wanted_.find(ordinal);
      if (found == wanted_.end()) {
        make(ordinal);
        if (ordered_) {
          return Flow::wait;
        }
        continue;
      }
      const WorkloadPod& pod = found->second;
      if (pod.over) {
        if (!pod.deleting) {
          desired_.remove.push_back(pod);
        }
        if (ordered_) {
          return Flow::wait;
        }
        continue;
      }
      if (ordered_ && !available(pod)) {
        return Flow::wait;
      }
    }
    return Flow::go_on;
  }

  // Surplus pods go from the highest ordinal down, in order one at a time; one that is not
  // available holds up the rest unless it is the only one in the way.
  Flow shrink() {
    const WorkloadPod* first_unavailable = nullptr;
    for (const auto* pods : {&wanted_, &condemned_}) {
      for (const auto& [ordinal, pod] : *pods) {
        if (first_unavailable == nullptr && !available(pod)) {
          first_unavailable = &pod;
        }
      }
    }
    for (auto at = condemned_.rbegin(); at != condemned_.rend(); ++at) {
      const WorkloadPod& pod = at->second;
      if (!ordered_) {
        if (!pod.deleting) {
          desired_.remove.push_back(pod);
        }
        continue;
      }
      if (!pod.deleting && (available(pod) || &pod == first_unavailable)) {
        desired_.remove.push_back(pod);
      }
      return Flow::wait;
    }
    return Flow::go_on;
  }

  // From the highest ordinal down, one pod of another revision goes; it comes back as the new one.
  void update() {
    const std::int32_t least = first_ + strategy_.partition;
    for (std::int32_t ordinal = first_ + replicas_ - 1; ordinal >= least; --ordinal) {
      const auto found = wanted_.find(ordinal);
      if (found == wanted_.end()) {
        return;  // just made: it has to become available
      }
      const WorkloadPod& pod = found->second;
      if (revision_name(pod) != revisions_.update.name && !pod.deleting) {
        if (!is_going(pod)) {
          desired_.remove.push_back(pod);
        }
        return;
      }
      if (!available(pod)) {
        return;
      }
    }
  }

  void forget_history() {
    const std::int32_t limit = set_.spec.revision_history_limit.value_or(10);
    if (limit < 0) {
      return;
    }
    std::vector<SetRevision> dead;
    for (const SetRevision& revision : observed_.revisions) {
      const bool live = revision.name == revisions_.update.name ||
                        revision.name == revisions_.current.name ||
                        std::ranges::any_of(observed_.pods, [&](const WorkloadPod& pod) {
                          return revision_name(pod) == revision.name;
                        });
      if (!live) {
        dead.push_back(revision);
      }
    }
    if (dead.size() > static_cast<std::size_t>(limit)) {
      std::ranges::sort(dead, {}, &SetRevision::number);
      dead.resize(dead.size() - static_cast<std::size_t>(limit));
      desired_.forget = std::move(dead);
    }
  }

  void write_status() {
    model::StatefulSetStatus status = set_.status;
    status.observed_generation = set_.metadata.generation;
    status.replicas = status.ready_replicas = status.available_replicas = 0;
    status.current_replicas = status.updated_replicas = 0;
    for (const auto* pods : {&wanted_, &condemned_}) {
      for (const auto& [ordinal, pod] : *pods) {
        ++status.replicas;
        status.ready_replicas += pod.running && pod.ready ? 1 : 0;
        status.available_replicas += available(pod) ? 1 : 0;
        // A pod that goes now does not count: revision_for() says by this count what comes back.
        if (!pod.deleting && !is_going(pod)) {
          status.current_replicas += revision_name(pod) == revisions_.current.name ? 1 : 0;
          status.updated_replicas += revision_name(pod) == revisions_.update.name ? 1 : 0;
        }
      }
    }
    status.current_revision = revisions_.current.name;
    status.update_revision = revisions_.update.name;
    status.collision_count = revisions_.collisions;
    if (!strategy_.on_delete && status.updated_replicas == status.replicas &&
        status.ready_replicas == status.replicas) {
      status.current_replicas = status.updated_replicas;
      status.current_revision = status.update_revision;
    }
    if (status != set_.status) {
      desired_.status = std::move(status);
    }
  }

  const ObservedStatefulSet& observed_;
  const model::StatefulSet& set_;
  WallTime now_;
  DesiredStatefulSet& desired_;
  Strategy strategy_;
  std::int32_t first_;
  std::int32_t replicas_;
  bool ordered_;
  Revisions revisions_;
  std::map<std::int32_t, WorkloadPod> wanted_;
  std::map<std::int32_t, WorkloadPod> condemned_;
};

// Pods that are selected and nobody's, or ours and no longer selected. False when there were none.
bool claim(const ObservedStatefulSet& observed, const model::Selector& selector,
           DesiredStatefulSet& desired) {
  for (const WorkloadPod& pod : observed.pods) {
    if (!pod.deleting && !selector.matches(pod.labels)) {
      desired.release.push_back(pod);
    }
  }
  for (const WorkloadPod& pod : observed.orphans) {
    if (!pod.deleting && selector.matches(pod.labels) &&
        ordinal_of(pod.name, observed.set.metadata.name) >= 0) {
      desired.adopt.push_back(pod);
    }
  }
  return !desired.release.empty() || !desired.adopt.empty();
}

}  // namespace

DesiredStatefulSet decide(const ObservedStatefulSet& observed, WallTime now) {
  DesiredStatefulSet desired;
  const Result<model::Selector> selector = model::to_selector(observed.set.spec.selector);
  if (!selector || selector->selects_nothing()) {
    return desired;  // the server does not let such a set in
  }
  if (!observed.set.metadata.deleting() && claim(observed, *selector, desired)) {
    return desired;  // then look at all of them
  }
  Step(observed, now, desired).run();
  const Duration wait =
      until_next_available(observed.pods, observed.set.spec.min_ready_seconds, now);
  if (wait > Duration(0)) {
    desired.look_again = wait;
  }
  return desired;
}

}  // namespace codeflare::controllers::apps
