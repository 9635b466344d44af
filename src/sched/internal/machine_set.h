#pragma once

#include "sched/internal/resource_table.h"
#include "sched/machines.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

// The cheapest set of new machines that holds all of some pods. Knows no nodes and no line.
namespace codeflare::sched {

// Pods of one kind that have no place yet.
struct PodsToHold {
  const Request* request = nullptr;
  std::int64_t count = 0;
  bool one_each = false;      // a machine takes one of them at most
  std::uint32_t apart = 0;    // as Group::apart
  std::vector<bool> allowed;  // by kind of machine
};

struct OfferedMachine {
  std::vector<Amount> capacity;  // by resource
  std::int64_t cost = 0;         // in millionths per hour
  double size = 0;               // the smaller of two sets of the same cost is better
  std::int64_t left = 0;
  bool limited = true;  // counts against SetLimits
};

struct NewMachine {
  std::size_t kind = 0;
  std::vector<Amount> free;
  std::vector<std::pair<std::size_t, std::int64_t>> holds;  // position among the pods, and count
};

struct SetLimits {
  bool bounded = true;  // false: whatever is left, for the answer what would be needed
  std::int64_t machines = 0;
  std::int64_t cost = 0;
  std::int64_t purse = 0;
};

struct MachineSet {
  std::vector<NewMachine> machines;  // empty: there is none
  std::int64_t cost = 0;
  double size = 0;
  // Of the limited ones.
  std::int64_t limited = 0;
  std::int64_t limited_cost = 0;
  // If there is none: the pods that no kind holds at all, or the limit that was met first.
  std::optional<std::size_t> impossible{};
  MachineNeed::Limit limit = MachineNeed::Limit::none;
  std::size_t kind = 0;  // with Limit::kind

  bool found() const { return !machines.empty(); }
};

// Optimal for pods of one kind, up to a few thousand of them. Several kinds of pods are tried in
// at most `combinations_max` combinations of kinds of machines.
MachineSet cheapest_set(const std::vector<PodsToHold>& pods,
                        const std::vector<OfferedMachine>& offers, const SetLimits& limits,
                        std::uint32_t combinations_max);

}  // namespace codeflare::sched
