#pragma once

#include "json/value.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace codeflare::queue {

// How many pods the object, as it is now, makes of the template at this JSON pointer. Nothing where
// that cannot change (a Pod, the head of a RayCluster) or its kind is not known. What `suspend`
// says is not heeded, as in demand_of().
std::optional<std::int64_t> pods_of_template(const json::Value& object,
                                             std::string_view template_path);

}  // namespace codeflare::queue
