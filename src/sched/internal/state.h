#pragma once

#include "sched/decision.h"
#include "sched/internal/alarms.h"
#include "sched/internal/claim_table.h"
#include "sched/internal/cluster.h"
#include "sched/internal/elastic_table.h"
#include "sched/internal/gang_table.h"
#include "sched/internal/lane_table.h"
#include "sched/internal/placement.h"
#include "sched/internal/quota_forest.h"
#include "sched/internal/shape_table.h"
#include "sched/spec.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sched {

// Amounts that the head of the line keeps from others: see reserve.h.
struct Reservation {
  Index gang = kNone;
  Index lane = kNone;
  Time since{};
  std::optional<Time> starts;  // when it will fit; unknown if an end is unknown
  std::vector<std::pair<Index, Request>> nodes;
};

// Running gangs, the weakest first: who borrows deepest, then lowest priority, then youngest.
struct WeakKey {
  Index over = 0;
  std::int32_t priority = 0;
  Time started{};
  std::string name;
  Index gang = kNone;

  friend bool operator<(const WeakKey& a, const WeakKey& b) {
    if (a.over != b.over) {
      return a.over > b.over;
    }
    if (a.priority != b.priority) {
      return a.priority < b.priority;
    }
    if (a.started != b.started) {
      return a.started > b.started;
    }
    return a.name > b.name;
  }
};

// All that the core knows. The files beside this one each hold one policy that reads and changes
// it; Core is the face.
struct State {
  explicit State(Options options_in) : options(std::move(options_in)), cluster(options.pack) {}

  Options options;
  Cluster cluster;
  ShapeTable shapes;
  QuotaForest forest;
  ClaimTable claims;
  GangTable gangs;
  LaneTable lanes;
  ElasticTable elastics;
  Alarms alarms;

  std::vector<Index> ready;      // lanes to be tried; may hold stale entries
  std::vector<Index> fresh;      // gangs that were not yet told why they wait
  std::vector<Index> hoping;     // shapes that woke in this step because nodes grew
  std::vector<Index> nominated;  // gangs
  std::size_t draining = 0;      // gangs
  std::set<WeakKey> weakest;     // with preemption only
  std::optional<Reservation> reservation;
  bool reservation_stale = false;   // a node of it changed
  std::uint64_t nodes_version = 0;  // grows when nodes or foreign pods change
  bool stir = false;                // something that no alarm covers: try every lane
  bool paused = false;              // only loose gangs start

  // For elastic gangs that want to grow: what has changed since they were last looked at.
  std::vector<Index> grown_nodes;
  bool growth_stir = false;  // something that no node tells of

  // Gangs that wait may count on what others give up: everybody's growth, or their end.
  bool others_give_way() const { return options.preemption || elastics.active() > 0; }

  // The review of reasons that goes round all lanes: see pass_review.cc.
  std::uint64_t reviewed_at = 0;  // Cluster::changes() when the round began
  std::size_t review_left = 0;    // lanes to be looked at in it
  Index review_next = 0;          // lane
};

}  // namespace codeflare::sched
