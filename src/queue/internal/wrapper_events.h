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

// Those that were not to be tried for a while are again: all whose time has come, or all of the
// namespace.
void release_due(QueueState& state, Time now);
void release_delayed(QueueState& state, std::string_view ns);

// Quota trees have come or gone: labels may mean something else now.
void trees_changed(QueueState& state);

// The core has admitted it, resized it, or decided to evict it.
void started(QueueState& state, const sched::Admission& admission, Time now);
void resized(QueueState& state, const sched::Resize& resize);
void evicted(QueueState& state, const sched::Eviction& eviction);

}  // namespace codeflare::queue
