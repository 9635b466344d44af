#pragma once

#include "json/value.h"
#include "sdk/cluster_config.h"

#include <string>
#include <vector>

namespace codeflare::sdk {

// One of additional_worker_groups; `where` names it in faults.
WorkerGroup read_worker_group(const json::Value& value, const std::string& where,
                              std::vector<Fault>& faults);

}  // namespace codeflare::sdk
