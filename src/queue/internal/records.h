#pragma once

#include "model/gvk.h"
#include "queue/demand.h"
#include "queue/internal/measured_rates.h"
#include "queue/queue.h"
#include "queue/work.h"
#include "sched/core.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

// The queue's record of each object.
namespace codeflare::queue {

struct WrapperRecord;

enum class PodPhase : std::uint8_t { active, succeeded, failed };

// The account that counts the pod's requests on its node.
enum class CountedAs : std::uint8_t {
  nothing,  // it takes nothing: not bound, finished, or on a node that is not there
  foreign,  // in the sum of its node
  gang,     // in its AppWrapper's gang
  loose,    // it is a gang of one whose binding is under way
};

struct PodRecord {
  model::ObjectKey key;
  std::string uid;
  std::string node;           // as the API says; empty while unbound
  std::string assumed;        // where a Binding sends it, until the API says so
  sched::Resources requests;  // with "pods": 1
  sched::Resources limits;    // "limits.cpu"
  PodTraits traits;
  sched::Time created{};
  std::int32_t priority = 0;
  PodPhase phase = PodPhase::active;
  bool deleting = false;
  bool gated = false;
  bool ours = false;       // asks for our scheduler
  std::string owner;       // UID of its AppWrapper by label
  std::string mcad_owner;  // name of its AppWrapper by MCAD's label
  std::string set_label;   // which pod set it says it is of
  WrapperRecord* wrapper = nullptr;
  std::optional<std::uint32_t> pod_set;
  // As a gang of one; kept while it may have to be bound that way.
  std::unique_ptr<sched::PodSet> alone;
  std::optional<sched::GangId> loose;
  std::string problem;  // why it can never be a gang of one

  CountedAs counted = CountedAs::nothing;
  std::string counted_at;  // node
  bool planned = false;    // of a gang: in a planned place
  bool resized = false;    // its requests differ from those in the core
  bool success_counted = false;
  bool in_namespace = false;  // counted against the ResourceQuotas of its namespace

  const std::string& place() const { return node.empty() ? assumed : node; }
};

struct ByPodKey {
  bool operator()(const PodRecord* a, const PodRecord* b) const {
    return a->key != b->key ? a->key < b->key : a->uid < b->uid;
  }
};
using PodSetOf = std::set<PodRecord*, ByPodKey>;

struct NodeRecord {
  bool present = false;  // pods may name nodes that are not there
  bool ready = false;
  std::string pending;  // the MachineRequest that keeps everybody away until it is complete
  sched::NodeSpec spec;
  sched::NodeId id;
  sched::Resources foreign;       // in sum
  sched::Resources foreign_told;  // to the core
  PodSetOf pods;                  // that are there, or will be
};

struct ResourceQuotaRecord {
  QuotaRule rule;
  std::optional<sched::Resources> use_told;  // to the core
};

struct NamespaceRecord {
  // By pods that no gang here accounts for, those alike together.
  std::map<PodTraits, sched::Resources> use;
  std::map<model::ObjectKey, ResourceQuotaRecord> quotas;
};

// A standing when it was last reported.
struct Brief {
  Standing::Kind kind = Standing::Kind::unknown;
  Reason reason = Reason::none;
  std::uint32_t plan_version = 0;
  friend bool operator==(const Brief&, const Brief&) = default;
};

struct WrapperRecord {
  WorkId id;
  sched::GangId gang;
  Demand demand;
  std::vector<sched::Designation> quota;  // as its labels are now
  std::int32_t priority = 0;
  bool suspended = false;
  bool user_known = true;
  std::optional<sched::Time> not_before;  // while it is in QueueState::delayed
  PodSetOf pods;
  bool elastic = false;  // of several sizes; it has one pod set
  // Of an elastic AppWrapper: as its item was written. The wrapped TrainingJob may be edited.
  std::optional<sched::Sizes> written_sizes;
  // Of the queue's clusters: what was learned for it, and which it may not use, in words.
  std::unique_ptr<ClusterNotes> cluster_notes;
  std::string other_clusters;
  bool pinned = true;  // the core knows it as one of one cluster
  // Of a TrainingJob, without its plan and demand: its gang is submitted anew when its clusters
  // change.
  std::unique_ptr<Work> work;

  // While it holds something.
  bool holds = false;
  bool draining = false;
  bool place_lost = false;  // and no other was found
  bool from_mcad = false;
  sched::Time since{};
  std::vector<sched::Designation> admitted_quota;  // as its labels were then
  std::vector<model::PlannedPlace> plan;
  std::string cluster;          // of the plan; an elastic one may lose all of its places there
  bool plan_unwritten = false;  // it changed, and its status does not say so yet: nobody is bound
  std::vector<model::PlannedPlace> lost;  // the part of it whose node is gone
  std::vector<std::int64_t> succeeded;    // by pod set
  std::vector<std::int64_t> fallen;       // by pod set: fewer than when it was dispatched
  std::string evicted_for;                // empty: it is not being evicted
  sched::EvictionCause evicted_cause = sched::EvictionCause::priority;
  std::uint32_t plan_version = 0;
  // Of an elastic one: pods that have to go, by node, and for whom.
  std::vector<model::PlannedPlace> leaving;
  std::string shrinks_for;
  MeasuredRates rates;

  Brief told;
};

}  // namespace codeflare::queue
