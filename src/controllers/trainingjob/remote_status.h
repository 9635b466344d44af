#pragma once

#include "base/time.h"
#include "model/training_job.h"
#include "queue/queue.h"

#include <string>
#include <string_view>
#include <vector>

// The status of a TrainingJob whose plan is on a worker cluster: its copy there runs it, and the
// status here says what the copy says (docs/decisions/0016-many-clusters.md). Pure.
namespace codeflare::controllers::trainingjob {

// True from the release of the copy on; with the cluster in the message.
inline constexpr std::string_view kDispatched = "Dispatched";

// The worker that the plan names; empty for plans here and without one.
std::string remote_cluster(const model::TrainingJobStatus& status);
// The same of the queue's places.
std::string remote_cluster(const std::vector<model::PlannedPlace>& places);
// Some of these places are on another cluster than the plan: what lost its nodes may get places
// anew anywhere. Empty: in the hub's own cluster.
bool is_elsewhere(const std::vector<model::PlannedPlace>& places, const std::string& cluster);

// The job as it was read, and the moment.
struct RemoteMoment {
  const model::TrainingJob& job;
  WallTime now;  // whole seconds
};

// Write 1: the plan with its cluster. Also a plan of another size.
model::TrainingJobStatus planned_there(const RemoteMoment& moment, const queue::Standing& standing);
// Write 4: the copy is released.
model::TrainingJobStatus dispatched_there(const RemoteMoment& moment);
// Stage, numbers and conditions are those of the copy. The plan stays that of the hub.
model::TrainingJobStatus mirrored(const RemoteMoment& moment, const model::TrainingJobStatus& copy);
// The end that the copy reports; it holds nothing any more.
model::TrainingJobStatus ended_there(const RemoteMoment& moment,
                                     const model::TrainingJobStatus& copy);
// Write 7: back in line.
model::TrainingJobStatus queued_again(const RemoteMoment& moment, const std::string& reason,
                                      const std::string& message);

bool is_dispatched(const model::TrainingJobStatus& status);
// People wait for this change; numbers and messages may come a few seconds later.
bool is_urgent(const model::TrainingJobStatus& before, const model::TrainingJobStatus& after);

}  // namespace codeflare::controllers::trainingjob
