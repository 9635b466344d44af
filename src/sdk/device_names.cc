#include "sdk/device_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::sdk {

namespace {

using Name = std::pair<std::string_view, std::string_view>;
constexpr std::array kBuiltIn = {
    Name{"nvidia.com/gpu", kRayGpu},     Name{"intel.com/gpu", kRayGpu},
    Name{"amd.com/gpu", kRayGpu},        Name{"aws.amazon.com/neuroncore", "neuron_cores"},
    Name{"google.com/tpu", "TPU"},       Name{"habana.ai/gaudi", "HPU"},
    Name{"huawei.com/Ascend910", "NPU"}, Name{"huawei.com/Ascend310", "NPU"},
};

}  // namespace

std::string_view ray_name_of(std::string_view device, const model::StringMap& mapping) {
  if (const auto at = mapping.find(device); at != mapping.end()) {
    return at->second;
  }
  const auto found = std::ranges::find(kBuiltIn, device, &Name::first);
  return found == kBuiltIn.end() ? std::string_view() : found->second;
}

}  // namespace codeflare::sdk
