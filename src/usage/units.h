#pragma once

#include "model/pod.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace codeflare::usage {

// Resources of a ledger beside extended ones such as nvidia.com/gpu. Units are whole numbers.
inline constexpr std::string_view kWorkers = "workers";       // pods
inline constexpr std::string_view kMilliCpu = "millicpu";     // thousandths of a CPU
inline constexpr std::string_view kMemoryMib = "memory-mib";  // MiB, rounded up

// Units that a pod holds from its start to its end, by what it requests.
std::map<std::string, std::int64_t> units_of(const model::PodSpec& spec);

}  // namespace codeflare::usage
