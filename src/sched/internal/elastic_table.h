#pragma once

#include "sched/decision.h"
#include "sched/internal/resource_table.h"
#include "sched/spec.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sched {

// Pods of an elastic set on one node.
struct GrownSlot {
  Index node = 0;
  std::int64_t count = 0;
};
using GrownSlots = std::vector<GrownSlot>;

std::int64_t total(const GrownSlots& slots);
std::int64_t on_node(const GrownSlots& slots, Index node);
void put(GrownSlots& slots, Index node, std::int64_t count);
// Takes away what is there, at most `count`; returns how many.
std::int64_t take(GrownSlots& slots, Index node, std::int64_t count);

// The worth of growth to a gang, by the policy: more is better, the queue's need first.
struct Worth {
  double queue = 0;
  double own = 0;
  double step = 0;  // by how much the queue's need falls with it
  Index which = 0;  // queue
  friend bool operator==(const Worth&, const Worth&) = default;
};

// A gang's place in the order of those that want to grow: the first grows first.
struct WantKey {
  std::int32_t priority = 0;
  Worth worth{};
  Time submitted{};
  Index elastic = kNone;

  friend bool operator<(const WantKey& a, const WantKey& b) {
    if (a.priority != b.priority) {
      return a.priority > b.priority;
    }
    if (a.worth.queue != b.worth.queue) {
      return a.worth.queue > b.worth.queue;
    }
    if (a.worth.own != b.worth.own) {
      return a.worth.own > b.worth.own;
    }
    if (a.submitted != b.submitted) {
      return a.submitted < b.submitted;
    }
    return a.elastic < b.elastic;
  }
};

// Its place in the order of those that hold growth: the first gives way first.
struct HoldKey {
  std::int32_t priority = 0;
  Worth worth{};
  Time started{};
  Index elastic = kNone;

  friend bool operator<(const HoldKey& a, const HoldKey& b) {
    if (a.priority != b.priority) {
      return a.priority < b.priority;
    }
    if (a.worth.queue != b.worth.queue) {
      return a.worth.queue < b.worth.queue;
    }
    if (a.worth.own != b.worth.own) {
      return a.worth.own < b.worth.own;
    }
    if (a.started != b.started) {
      return a.started > b.started;
    }
    return a.elastic > b.elastic;
  }
};

// Everything that decides whether a gang can grow, besides its worth.
struct GrowthLaneKey {
  Index kind = kNone;
  Index path = kNone;          // through the quota forest
  std::int64_t increment = 0;  // pods
  Index own = kNone;           // the gang itself, if its pods keep apart from each other
  friend auto operator<=>(const GrowthLaneKey&, const GrowthLaneKey&) = default;
};

struct GrowthLane {
  std::set<WantKey> line;
  bool asleep = false;  // its head could not grow, and nothing that matters has changed since
};

// A gang with a pod set of several sizes. The run's places and pods hold what it has on nodes;
// here is which of them are more than the minimum.
struct Elastic {
  Index gang = kNone;
  std::uint32_t pod_set = 0;
  Sizes sizes;
  Index queue = 0;
  Progress progress;

  // While it runs. base + grown + leaving is what it holds of the set; coming is held beside it.
  std::int64_t base = 0;
  GrownSlots grown;  // the oldest first
  GrownSlots leaving;
  GrownSlots coming;
  Request ranked{};  // what the minimum charges, as the quota ranks have it

  Time resized{};  // the last time
  bool ever_resized = false;
  double attained = 0;  // pod-seconds
  Time accrued{};       // up to here
  std::int64_t accruing = 0;

  double unit = 0;   // the largest part of the cluster that one pod takes
  double share = 0;  // what its queue has counted of it

  bool active = false;  // it runs, and is not being stopped
  bool dirty = false;   // to be looked at in the next growth pass
  bool wants = false;   // in a lane, under these keys
  GrowthLaneKey lane;
  WantKey want;
  bool holds = false;
  HoldKey hold;

  std::int64_t planned() const { return base + total(grown) + total(coming); }
};

// Elastic gangs by number, and the orders in which they grow and give way.
class ElasticTable {
 public:
  Index add(Index gang, std::uint32_t pod_set, Sizes sizes, const std::string& queue);
  void remove(Index elastic);

  Elastic& operator[](Index elastic) { return all_[elastic]; }
  const Elastic& operator[](Index elastic) const { return all_[elastic]; }
  const std::vector<Elastic>& all() const { return all_; }
  bool empty() const { return all_.size() == free_.size(); }

  void set_active(Index elastic, bool active);
  // Gangs that run and are not being stopped.
  std::size_t active() const { return active_; }

  // Looked at in the next growth pass.
  void touch(Index elastic);
  std::vector<Index> take_dirty();
  bool any_dirty() const { return !dirty_.empty(); }
  const std::vector<Index>& dirty() const { return dirty_; }

  void want(Index elastic, const GrowthLaneKey& lane, const WantKey& key);
  void unwant(Index elastic);
  void hold(Index elastic, const HoldKey& key);
  void unhold(Index elastic);
  std::map<GrowthLaneKey, GrowthLane>& lanes() { return lanes_; }
  const std::map<GrowthLaneKey, GrowthLane>& lanes() const { return lanes_; }
  const std::set<HoldKey>& holders() const { return holders_; }
  void wake_lanes();

  // Places that are left, of all gangs.
  std::int64_t leaving = 0;
  // Gangs that may grow again, and when; entries may be stale.
  std::set<std::pair<Time, Index>> cooling;
  // Gangs with places that come.
  std::vector<Index> coming;
  // The orders are as they were then, but for what was touched.
  Time refreshed{};

  // --- queues ---
  struct Queue {
    std::string name;
    double weight = 1;
    double held = 0;  // the sum of its gangs' shares
  };
  Index queue(const std::string& name);
  Queue& queue_at(Index queue) { return queues_[queue]; }
  const Queue& queue_at(Index queue) const { return queues_[queue]; }

 private:
  std::vector<Elastic> all_;
  std::vector<Index> free_;
  std::vector<Index> dirty_;
  std::size_t active_ = 0;
  std::map<GrowthLaneKey, GrowthLane> lanes_;
  std::set<HoldKey> holders_;
  std::vector<Queue> queues_;
  std::map<std::string, Index> queue_by_name_;
};

}  // namespace codeflare::sched
