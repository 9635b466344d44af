#pragma once

#include "base/metrics.h"

namespace codeflare {

// process_resident_memory_bytes, process_virtual_memory_bytes, process_cpu_seconds_total,
// process_open_fds, process_max_fds and process_start_time_seconds of this process, read from the
// kernel at each expose(). Not for simulation.
void add_process_metrics(MetricsRegistry& metrics);

}  // namespace codeflare
