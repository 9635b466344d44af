#pragma once

#include "json/value.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace codeflare::queue {

// How many pods the object, as it is now, makes of the template at this JSON pointer. Nothing where
// that cannot change (a Pod, the head of a RayCluster) or its kind is not known. Ignores `suspend`,
// as demand_of() does.
std::optional<std::int64_t> pods_of_template(const json::Value& object,
                                             std::string_view template_path);

// Input of a kind's count.
struct PodCount {
  const json::Value& parent;  // the object that has the `template`
  std::span<const std::string>
      path;  // to the template: "spec", "workerGroupSpecs", "0", "template"
};

// Larger counts are cut to it.
inline constexpr std::int64_t kPodCountMax = std::numeric_limits<std::int32_t>::max();
// A count of 32 bits, negative ones as zero; nothing when the key is absent or no number.
std::optional<std::int64_t> count_in(const json::Value& parent, std::string_view key);

}  // namespace codeflare::queue
