#pragma once

#include "controllers/apps/deployment_decision.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::apps {

// The sets of a Deployment while one step is worked out; what differs from before is written.
class DeploymentSets {
 public:
  struct Entry {
    model::ReplicaSet before;
    model::ReplicaSet set;

    std::int32_t replicas() const { return set.spec.replicas.value_or(1); }
    bool active() const { return replicas() > 0; }
  };

  // `sets` without those that are being deleted; the one whose template is the Deployment's is the
  // new one (the oldest, when there are several).
  DeploymentSets(const model::Deployment& deployment, std::vector<model::ReplicaSet> sets);

  Entry* newest() { return new_ ? &entries_[*new_] : nullptr; }
  const Entry* newest() const { return new_ ? &entries_[*new_] : nullptr; }
  std::vector<Entry*> old();  // in the order of their creation
  std::vector<Entry*> active();
  std::vector<const Entry*> all() const;

  std::int32_t total() const;      // replicas asked for
  std::int32_t available() const;  // as their statuses say

  // Also brings the annotations about the Deployment's size up to date.
  void scale(Entry& entry, std::int32_t replicas);
  std::vector<runtime::EventNote>& events() { return events_; }

 private:
  const model::Deployment& deployment_;
  std::vector<Entry> entries_;
  std::optional<std::size_t> new_;
  std::vector<runtime::EventNote> events_;
};

std::int64_t revision_of(const model::ReplicaSet& set);
// Sets the annotation; false when it was so before.
bool annotate(model::ReplicaSet& set, std::string_view key, std::string value);
// Of a Deployment of this size, on each set that was scaled for it.
void annotate_size(const model::Deployment& deployment, model::ReplicaSet& set);

// Shares out a change of the Deployment's size among its active sets in proportion.
void scale_in_proportion(const model::Deployment& deployment, DeploymentSets& sets);

}  // namespace codeflare::controllers::apps
