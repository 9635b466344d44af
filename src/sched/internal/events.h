#pragma once

#include "base/result.h"
#include "sched/internal/state.h"

#include <string>
#include <vector>

// Outside events, written into the state. Nothing is decided here: the next step does that.
namespace codeflare::sched {

void node_changed(State& state, Index node);
std::vector<GangId> lose_node(State& state, Index node);
// Charges all that runs to the forest as it is now, and everybody in line looks for its lane.
void forest_changed(State& state);

Result<Index> create_gang(State& state, GangSpec spec);
Result<Index> adopt_gang(State& state, GangSpec spec, Time started, const Placement& placement);
Result<void> start_gang(State& state, Index gang, Time now, const Placement& placement);
void remove_gang(State& state, Index gang);
Result<void> drain_gang(State& state, Index gang);
Result<void> requeue_gang(State& state, Index gang, Time now);
void change_priority(State& state, Index gang, std::int32_t priority);
void hold_gang(State& state, Index gang, bool held);
Result<void> change_pods(State& state, Index gang, const std::vector<PodSet>& pod_sets,
                         const Within& within);
void change_quota(State& state, Index gang, std::vector<Designation> quota);

Result<void> change_bounds(State& state, Index gang, Sizes sizes);
Result<void> change_progress(State& state, Index gang, Progress progress);
// Something about a running elastic gang that others may profit from.
void touch_elastic(State& state, Index elastic);
// All of them may have become able to grow.
void touch_elastics(State& state);

Result<bool> bind_pod(State& state, Index gang, BoundPod pod);
Result<void> end_pod(State& state, Index gang, const std::string& name, bool replaced);

// Gives up one reserved place of the pod set: one on that node, else one that lost its node, else
// any. False if none is left.
// `freed`, if given, becomes the node where it was, kNone if it had none.
bool free_place(State& state, Run& run, std::uint32_t pod_set, Index node, Index* freed = nullptr);
Result<bool> drop_place(State& state, Index gang, std::uint32_t pod_set, Index node);
Result<bool> find_places(State& state, Index gang, const std::vector<std::int64_t>& counts);
Result<void> give_places(State& state, Index gang, const Placement& placement);
Result<bool> move_place(State& state, Index gang, std::uint32_t pod_set, Index from);

}  // namespace codeflare::sched
