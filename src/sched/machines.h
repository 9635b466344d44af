#pragma once

#include "sched/decision.h"
#include "sched/spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

// Which new machines would let waiting gangs start: Core::machines. Why it is so:
// docs/decisions/0017-machines.md.
namespace codeflare::sched {

// A type of machine. The name of `node` is the type's; it does not become a label of the machine.
struct MachineKind {
  NodeSpec node;
  double cost = 0;        // per hour
  std::int64_t left = 0;  // how many more may be asked for
  std::int64_t max = 0;   // how many there may be at most; told, not counted
  bool limited = true;    // counts against the limits of all kinds together
  // A gang that asks for it starts at once, on free nodes too: not offered behind a reservation.
  bool starts = false;
};

// The limits of one gang's request for machines.
struct MachineWish {
  Labels labels{};  // machines that are made for it have these, too
  // By pod set: the only kinds that are asked for it. Sets beyond the end: any.
  std::vector<std::vector<std::size_t>> kinds{};
  std::vector<std::size_t> without{};  // kinds that are not asked for it
  std::string purse{};                 // a key of MachineQuestion::purses; absent there: no limit
};

struct MachineQuestion {
  std::vector<MachineKind> kinds{};
  // Asked for already, and not nodes of the core yet. Places there are for whoever is first.
  std::vector<NodeSpec> coming{};
  std::int64_t machines_left = std::numeric_limits<std::int64_t>::max();
  double cost_left = std::numeric_limits<double>::infinity();
  std::map<std::string, double> purses{};
  // Nothing: machines are not for this gang.
  std::function<std::optional<MachineWish>(GangId)> wish{};
  std::size_t gangs_max = 256;
  std::uint32_t combinations_max = 64;
};

struct MachineCount {
  std::size_t kind = 0;
  std::int64_t count = 0;
  friend bool operator==(const MachineCount&, const MachineCount&) = default;
};

// Pods of a gang on its new machines.
struct MachineLoad {
  std::size_t kind = 0;
  std::uint32_t pod_set = 0;
  std::int64_t pods = 0;
  friend bool operator==(const MachineLoad&, const MachineLoad&) = default;
};

// The place of pods of a gang that machines would let start: on a node, or on one of the machines.
struct MachinePlace {
  std::uint32_t pod_set = 0;
  std::optional<NodeId> node{};
  std::int64_t pods = 0;
};

struct MachineNeed {
  enum class Outcome : std::uint8_t {
    fits,        // beside those ahead of it, without any new machine
    coming,      // it has places on machines that are asked for already, or for a gang ahead of it
    asks,        // for `machines`, beside others perhaps
    over_limit,  // it would ask for `machines`, but may not: `limit`
    impossible,  // no kind, or no number of them, has places for `pod_set`
  };
  enum class Limit : std::uint8_t { none, kind, machines, cost, purse };
  GangId gang;
  Outcome outcome = Outcome::fits;
  std::vector<MachineCount> machines{};  // new ones, by kind
  std::vector<MachineLoad> loads{};      // of these, by kind and pod set
  std::vector<MachinePlace> places{};    // of all of its pods, beside those ahead of it
  std::vector<std::size_t> uses{};       // positions in MachineQuestion::coming
  std::vector<GangId> shares{};          // gangs ahead of it whose new machines it uses
  Limit limit = Limit::none;
  std::size_t kind = 0;  // with Limit::kind
  std::uint32_t pod_set = 0;
  bool fenced = false;  // kinds that start gangs were not offered to it
};

// Needs in the order of the line; gangs that wait for something else than nodes have none.
struct MachineAnswer {
  std::vector<MachineNeed> needs;
  bool cut_short = false;  // there are more gangs in line than `gangs_max`
};

}  // namespace codeflare::sched
