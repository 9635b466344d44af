#include "controllers/apps/deployment_sets.h"

#include "controllers/apps/template_hash.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

std::optional<std::int32_t> number_of(const model::ReplicaSet& set, std::string_view key) {
  const std::string_view text = model::find_or_empty(set.metadata.annotations, key);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

// Half away from zero, without floating point.
std::int64_t rounded(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t twice = 2 * numerator + denominator;
  return twice / (2 * denominator);
}

// The share of one set when the Deployment goes from the size it was last scaled for to `most`.
std::int32_t share(const model::Deployment& deployment, const DeploymentSets::Entry& entry,
                   std::int32_t most) {
  if (deployment.spec.replicas.value_or(1) == 0) {
    return -entry.replicas();
  }
  std::int32_t scaled_for = number_of(entry.set, kMaxReplicas).value_or(deployment.status.replicas);
  if (scaled_for == 0) {
    return 0;
  }
  return static_cast<std::int32_t>(rounded(std::int64_t{entry.replicas()} * most, scaled_for)) -
         entry.replicas();
}

}  // namespace

DeploymentSets::DeploymentSets(const model::Deployment& deployment,
                               std::vector<model::ReplicaSet> sets)
    : deployment_(deployment) {
  std::erase_if(sets, [](const model::ReplicaSet& set) { return set.metadata.deleting(); });
  std::ranges::sort(sets, {}, [](const model::ReplicaSet& set) {
    return std::tuple(set.metadata.creation_timestamp.value_or(WallTime()), set.metadata.name);
  });
  for (model::ReplicaSet& set : sets) {
    entries_.push_back({.before = set, .set = std::move(set)});
  }
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return equal_ignoring_hash(entry.set.spec.pod_template, deployment.spec.pod_template);
  });
  if (found != entries_.end()) {
    new_ = static_cast<std::size_t>(found - entries_.begin());
  }
}

std::vector<DeploymentSets::Entry*> DeploymentSets::old() {
  std::vector<Entry*> found;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i != new_) {
      found.push_back(&entries_[i]);
    }
  }
  return found;
}

std::vector<DeploymentSets::Entry*> DeploymentSets::active() {
  std::vector<Entry*> found;
  for (Entry& entry : entries_) {
    if (entry.active()) {
      found.push_back(&entry);
    }
  }
  return found;
}

std::vector<const DeploymentSets::Entry*> DeploymentSets::all() const {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries_) {
    found.push_back(&entry);
  }
  return found;
}

std::int32_t DeploymentSets::total() const {
  std::int32_t sum = 0;
  for (const Entry& entry : entries_) {
    sum += entry.replicas();
  }
  return sum;
}

std::int32_t DeploymentSets::available() const {
  std::int32_t sum = 0;
  for (const Entry& entry : entries_) {
    sum += entry.set.status.available_replicas;
  }
  return sum;
}

void DeploymentSets::scale(Entry& entry, std::int32_t replicas) {
  const std::int32_t from = entry.replicas();
  if (from != replicas) {
    events_.push_back({.reason = "ScalingReplicaSet",
                       .message = std::string("Scaled ") + (from < replicas ? "up" : "down") +
                                  " replica set " + entry.set.metadata.name + " from " +
                                  std::to_string(from) + " to " + std::to_string(replicas)});
  }
  entry.set.spec.replicas = replicas;
  annotate_size(deployment_, entry.set);
}

std::int64_t revision_of(const model::ReplicaSet& set) {
  return number_of(set, kRevision).value_or(0);
}

bool annotate(model::ReplicaSet& set, std::string_view key, std::string value) {
  std::string& now = set.metadata.annotations[std::string(key)];
  return std::exchange(now, value) != value;
}

void annotate_size(const model::Deployment& deployment, model::ReplicaSet& set) {
  const std::int32_t replicas = deployment.spec.replicas.value_or(1);
  annotate(set, kDesiredReplicas, std::to_string(replicas));
  annotate(set, kMaxReplicas, std::to_string(replicas + leeway(deployment).surge));
}

void scale_in_proportion(const model::Deployment& deployment, DeploymentSets& sets) {
  const std::int32_t replicas = deployment.spec.replicas.value_or(1);
  std::vector<DeploymentSets::Entry*> active = sets.active();
  if (active.size() <= 1) {
    DeploymentSets::Entry* only = active.empty() ? sets.newest() : active.front();
    if (only == nullptr && !sets.old().empty()) {
      only = sets.old().back();
    }
    if (only != nullptr && only->replicas() != replicas) {
      sets.scale(*only, replicas);
    } else if (only != nullptr) {
      annotate_size(deployment, only->set);
    }
    return;
  }
  DeploymentSets::Entry* newest = sets.newest();
  if (newest != nullptr && newest->replicas() == replicas &&
      newest->set.status.available_replicas == replicas) {
    for (DeploymentSets::Entry* old : sets.old()) {
      if (old->active()) {
        sets.scale(*old, 0);
      }
    }
    annotate_size(deployment, newest->set);
    return;
  }
  if (deployment.spec.strategy.type == "Recreate") {
    return;
  }
  const std::int32_t allowed = replicas > 0 ? replicas + leeway(deployment).surge : 0;
  const std::int32_t to_add = allowed - sets.total();
  // The largest first; of equal ones the newest when growing, the oldest when shrinking.
  // Entries lie in the order of their age.
  std::ranges::sort(active,
                    [to_add](const DeploymentSets::Entry* a, const DeploymentSets::Entry* b) {
                      if (a->replicas() != b->replicas()) {
                        return a->replicas() > b->replicas();
                      }
                      return to_add > 0 ? a > b : a < b;
                    });
  std::vector<std::int32_t> sizes;
  std::int32_t added = 0;
  for (const DeploymentSets::Entry* entry : active) {
    std::int32_t part = to_add == 0 ? 0 : share(deployment, *entry, allowed);
    part = to_add > 0 ? std::clamp(part, 0, to_add - added)
                      : std::clamp(part, std::min(0, to_add - added), 0);
    sizes.push_back(entry->replicas() + part);
    added += part;
  }
  sizes.front() = std::max(0, sizes.front() + to_add - added);
  for (std::size_t i = 0; i < active.size(); ++i) {
    sets.scale(*active[i], sizes[i]);
  }
}

}  // namespace codeflare::controllers::apps
