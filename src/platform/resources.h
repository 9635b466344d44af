#pragma once

#include "model/application.h"
#include "model/run.h"
#include "platform/policy.h"
#include "platform/problem.h"
#include "platform/sizes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

// The effective value of an amount that is not requested.
inline constexpr std::string_view kNone = "none";

// The requests of each worker of a Run.
struct RunResources {
  std::string size;
  std::int32_t workers = 1;
  std::optional<model::Quantity> cpu;  // nothing: no request
  std::optional<model::Quantity> memory;
  std::int32_t gpu = 0;
  std::vector<model::EffectiveValue> effective;
};

// Size: the Run's, the Application's, a policy's default, else the smallest from `sm` on that meets
// the Application's minima. Workers, cpu, memory and gpu one by one: the Run's, a policy's default,
// those of the size. GPUs only where Run and Application both say supportsGpu.
RunResources run_resources(const model::Application& application, const model::Run& run,
                           const SizeTable& sizes, const Policies& policies, Problems& problems);

}  // namespace codeflare::platform
