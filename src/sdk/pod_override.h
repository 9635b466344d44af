#pragma once

#include "json/value.h"

namespace codeflare::sdk {

// `patch` merged into a pod spec as kubectl merges it: maps by key; containers, volumes, env and
// the like by name, mounts by path, ports by number; other lists are replaced; null removes.
void merge_pod_spec(json::Arena& arena, json::Value& target, const json::Value& patch);

}  // namespace codeflare::sdk
