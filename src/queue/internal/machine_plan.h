#pragma once

#include "queue/internal/state.h"
#include "queue/machines.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace codeflare::queue {

// Where the work names types for its pod sets: of all machines on demand only these hold the set.
// Other nodes may hold it as well.
void restrict_to_types(const WrapperRecord& record, std::vector<sched::PodSet>& pods);
MachinePlan plan_machines(QueueState& state, const MachineMarket& market, Time now);
// Returns whether anything is another one.
bool set_machine_notes(QueueState& state, std::map<std::string, MachineNote> notes);
bool set_arrived(QueueState& state, std::set<std::string> requests);

}  // namespace codeflare::queue
