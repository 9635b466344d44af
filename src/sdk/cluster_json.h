#pragma once

#include "json/value.h"
#include "sdk/clusters.h"

#include <string>

// Configurations and clusters as plain data: what Python sees, and `-o json`.
namespace codeflare::sdk {

// Every field of the table that differs from its default, under its name; read_config() reads it
// back.
json::Value to_json(json::Arena& arena, const ClusterConfig& config);

// The configuration that a RayCluster was made of, as far as it can be read from it: sizes,
// workers, images, environment, labels.
ClusterConfig config_of(const model::RayCluster& ray);
// The fields that only the AppWrapper around it has: priority, quota labels, exposure, ...
void add_wrapper_fields(const model::AppWrapper& wrapper, ClusterConfig& config);

json::Value to_json(json::Arena& arena, const ClusterInfo& info);
json::Value to_json(json::Arena& arena, const ClusterState& state);

}  // namespace codeflare::sdk
