#pragma once

#include "model/node.h"
#include "queue/internal/state.h"

#include <string_view>

// Nodes come, change, go and come back.
namespace codeflare::queue {

// As the core sees it. One that is not Ready, or says so by a taint, holds nothing new.
sched::NodeSpec node_spec(const model::Node& node);
bool is_ready(const model::Node& node);
// Ready and not cordoned.
bool takes_new_pods(const NodeRecord& node);

// The request is complete: others than its gangs may use the node.
void drop_pending(sched::NodeSpec& spec);

void upsert_node(QueueState& state, const model::Node& node);
// The unit of TrainingJobs, or the nodes that they may use, are other ones.
void training_changed(QueueState& state);
void remove_node(QueueState& state, std::string_view name);

// A node that TrainingJobs may use has one unit, if they are counted in nodes.
void add_node_unit(const TrainingOptions& options, sched::NodeSpec& spec);
// Passes a changed sum to the core.
void tell_foreign(QueueState& state, NodeRecord& node);

}  // namespace codeflare::queue
