#pragma once

#include "model/app_wrapper.h"
#include "queue/internal/state.h"

#include <string_view>

// AppWrappers come, change and go; see Queue for what each call means.
namespace codeflare::queue {

Result<void> upsert(QueueState& state, const model::AppWrapper& wrapper, bool legacy, Time now);
void stopping(QueueState& state, std::string_view uid);
void withdrawn(QueueState& state, std::string_view uid, Time now);
void remove(QueueState& state, std::string_view uid);

// The core has admitted it, or decided to evict it.
void started(QueueState& state, const sched::Admission& admission, Time now);
void evicted(QueueState& state, const sched::Eviction& eviction);

}  // namespace codeflare::queue
