#pragma once

#include "queue/internal/state.h"
#include "queue/work.h"

#include <optional>
#include <string_view>

// AppWrappers and TrainingJobs come, change and go; see Queue for what each call means.
namespace codeflare::queue {

Result<void> upsert(QueueState& state, const Work& work, Time now);
void stopping(QueueState& state, std::string_view uid);
void withdrawn(QueueState& state, std::string_view uid, Time now, std::optional<Time> not_before);
void remove(QueueState& state, std::string_view uid);
// A ResourceQuota of the namespace may concern others than before.
void scopes_changed(QueueState& state, std::string_view ns);

// AppWrappers that were delayed are tried again: all whose time has come, or all of the
// namespace.
void release_due(QueueState& state, Time now);
void release_delayed(QueueState& state, std::string_view ns);

// A TrainingJob that an AppWrapper wraps: its bounds are those of the AppWrapper's gang.
void wrapped_job_seen(QueueState& state, const model::TrainingJob& job);

// Speeds that a TrainingJob reports, for the gang of this UID: its own or that of its AppWrapper.
void rates_seen(QueueState& state, std::string_view uid, const model::TrainingJobStatus& status);

// See Queue.
void set_clusters(QueueState& state, std::vector<ClusterInfo> clusters);
void set_cluster_notes(QueueState& state, std::string_view uid, ClusterNotes notes);

// Quota trees have come or gone: labels may mean something else now.
void trees_changed(QueueState& state);

// See Queue.
bool start_on_machines(QueueState& state, const MachineAsk& ask, Time now);

// The core has admitted it, resized it, or decided to evict it.
void started(QueueState& state, const sched::Admission& admission, Time now);
void resized(QueueState& state, const sched::Resize& resize);
void evicted(QueueState& state, const sched::Eviction& eviction);

}  // namespace codeflare::queue
