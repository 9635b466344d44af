#pragma once

#include "base/time.h"
#include "controllers/apps/set_revision.h"
#include "controllers/apps/workload_pods.h"
#include "model/persistent_volume_claim.h"
#include "model/stateful_set.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::apps {

struct ObservedStatefulSet {
  model::StatefulSet set;
  std::vector<WorkloadPod> pods;     // that it controls
  std::vector<WorkloadPod> orphans;  // of its namespace
  std::vector<SetRevision> revisions;
  std::set<std::string> claims;  // names of the claims in its namespace
};

struct DesiredStatefulSet {
  std::optional<model::StatefulSetStatus> status;  // absent: leave it as it is
  std::optional<SetRevision> create_revision;
  std::optional<SetRevision> renumber;
  std::vector<SetRevision> forget;
  std::vector<model::PersistentVolumeClaim> create_claims;
  std::vector<model::Pod> create;
  std::vector<WorkloadPod> remove;
  std::vector<WorkloadPod> adopt;
  std::vector<WorkloadPod> release;
  std::optional<Duration> look_again;
};

// One step of what the StatefulSet controller of Kubernetes 1.34 would do. Pure.
DesiredStatefulSet decide(const ObservedStatefulSet& observed, WallTime now);

// 3 of "web-3" when `set` is "web"; -1 when the name is not of that form.
std::int32_t ordinal_of(std::string_view pod, std::string_view set);

// The pod with this ordinal as the revision has it, and the claims it mounts.
model::Pod stateful_pod(const model::StatefulSet& set, const SetRevision& revision,
                        std::int32_t ordinal);
std::vector<model::PersistentVolumeClaim> claims_of(const model::StatefulSet& set,
                                                    std::int32_t ordinal);

}  // namespace codeflare::controllers::apps
