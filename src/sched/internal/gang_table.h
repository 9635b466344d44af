#pragma once

#include "sched/decision.h"
#include "sched/internal/resource_table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sched {

// One gang, waiting or not. There may be a million: keep it small.
struct Gang {
  std::string name;
  Time submitted{};
  Duration expected{};
  Duration limit{};
  Duration consumed{};
  double slope = 0;
  std::int32_t priority = 0;
  std::uint32_t generation = 1;
  Index shape = kNone;
  Index claim = kNone;
  Index lane = kNone;     // while it waits and is not held
  Index lane_place = 0;   // in the lane's heap
  Index run = kNone;      // while it holds something
  Index elastic = kNone;  // if it has several sizes
  GangState state = GangState::waiting;
  Reason told = Reason::none;  // the reason that was reported last
  bool alive = false;
  bool held = false;
  bool preemptible = true;
  bool pausable = true;
  bool fresh = false;  // not yet told why it waits
};

// Reserved places of one pod set on one node.
struct HeldSlot {
  std::uint32_t pod_set = 0;
  Index node = 0;
  std::int64_t count = 0;
};

inline constexpr std::uint32_t kUnplanned = ~std::uint32_t{0};

// A pod that exists on a node in the place of a reserved one.
struct BoundPod {
  std::string name;
  std::uint32_t pod_set = 0;  // kUnplanned: it took nobody's place
  Index node = 0;
  Request request;
  Request charge;  // to quota
};

// The holdings of a gang, from nomination until its pods are gone.
struct Run {
  Index gang = kNone;
  Time started{};
  std::vector<HeldSlot> places;
  std::vector<BoundPod> pods;
  std::vector<std::int64_t> unplaced;  // by pod set: planned pods without a node; may be empty
  std::vector<Index> leaves;           // quota nodes it charges
  Request charge;                      // to each of them and their parents
  std::vector<Index> borrowed_at;      // quota nodes whose limits it exceeds
  Index over = 0;                      // depth of the deepest of them
  bool ranked = false;                 // counted among members and borrowers
};

// Gangs and runs by number; names are unique.
class GangTable {
 public:
  // The name must be free.
  Index add(std::string name);
  void remove(Index gang);
  Index find(std::string_view name) const;
  Index checked(GangId id) const;  // kNone if it is gone
  GangId id(Index gang) const { return {gang, gangs_[gang].generation}; }

  Index add_run(Index gang);
  void remove_run(Index run);

  Gang& operator[](Index gang) { return gangs_[gang]; }
  const Gang& operator[](Index gang) const { return gangs_[gang]; }
  Run& run(Index run) { return runs_[run]; }
  const Run& run(Index run) const { return runs_[run]; }
  Run& run_of(Index gang) { return runs_[gangs_[gang].run]; }
  const Run& run_of(Index gang) const { return runs_[gangs_[gang].run]; }
  const std::vector<Gang>& all() const { return gangs_; }
  const std::vector<Run>& runs() const { return runs_; }
  std::size_t size() const { return count_; }
  std::size_t running() const { return runs_.size() - free_runs_.size(); }
  // Names themselves left out.
  std::size_t memory_bytes() const;

 private:
  std::size_t slot_of(std::string_view name) const;
  void rehash(std::size_t slots);
  void erase_name(Index gang);

  std::vector<Gang> gangs_;
  std::vector<Index> free_gangs_;
  std::vector<Run> runs_;
  std::vector<Index> free_runs_;
  // Gangs by the hash of their name, open addressing, a power of two of slots, half of them empty.
  std::vector<Index> by_name_;
  std::size_t count_ = 0;
};

}  // namespace codeflare::sched
