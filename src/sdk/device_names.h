#pragma once

#include "model/meta.h"

#include <string_view>

namespace codeflare::sdk {

// The worker group that a cluster's own fields describe.
inline constexpr std::string_view kFirstGroup = "workers";
inline constexpr std::string_view kRayGpu = "GPU";

// Ray's name of a device: of `mapping`, else the built-in one ("nvidia.com/gpu" is "GPU"); empty
// when it has none.
std::string_view ray_name_of(std::string_view device, const model::StringMap& mapping);

}  // namespace codeflare::sdk
