#pragma once

#include "queue/internal/state.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Places of started gangs whose node is gone: given back when it returns, found elsewhere when we
// bind, and otherwise told.
namespace codeflare::queue {

// A gang's planned pods without a place, by pod set.
struct Loss {
  sched::GangId gang;
  std::vector<std::int64_t> unplaced;
};
Loss before_loss(const QueueState& state, sched::GangId gang);
// Losses added since `before` belong to this node.
void note_loss(QueueState& state, const Loss& before, const std::string& node);
void add_lost(QueueState& state, WrapperRecord& wrapper, const model::PlannedPlace& place);

// Pods have come up, or will not come: no more is lost than the core misses. Places found again
// were lost on this node, if any were.
void trim_lost(QueueState& state, WrapperRecord& wrapper, std::uint32_t pod_set,
               std::string_view node);
void return_lost_places(QueueState& state, const NodeRecord& node);
void find_lost_places(QueueState& state);
// Places on cordoned nodes, so many of each pod set as `wanted`, go to other nodes where they fit:
// the plan says so.
void leave_cordoned_nodes(QueueState& state, WrapperRecord& wrapper,
                          std::vector<std::int64_t> wanted);

// Every place of it: kept, taken by a planned pod, or lost.
std::vector<model::PlannedPlace> places_of(const QueueState& state, const WrapperRecord& wrapper);
std::int64_t pods_lost(const WrapperRecord& wrapper);
// Where its plan is; `local` without one.
std::string_view cluster_of(const WrapperRecord& wrapper);

}  // namespace codeflare::queue
