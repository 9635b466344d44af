#include "node/keeper/gpu_devices.h"

#include <algorithm>
#include <iterator>

namespace codeflare::node {

namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::string_view kVisible = "CUDA_VISIBLE_DEVICES=";

}  // namespace

std::vector<std::int32_t> gpus_of(const std::vector<DeviceGrant>& grants,
                                  std::string_view container) {
  std::vector<std::int32_t> gpus;
  for (const DeviceGrant& grant : grants) {
    if (grant.resource == kGpu && (container.empty() || grant.container == container)) {
      gpus.insert(gpus.end(), grant.ids.begin(), grant.ids.end());
    }
  }
  // Containers that run one after the other may have the same.
  std::ranges::sort(gpus);
  gpus.erase(std::ranges::unique(gpus).begin(), gpus.end());
  return gpus;
}

std::string gpu_file(std::int32_t gpu) {
  return "nvidia" + std::to_string(gpu);
}

std::vector<std::string> gpu_files(const std::vector<std::int32_t>& gpus) {
  if (gpus.empty()) {
    return {};
  }
  std::vector<std::string> files = {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
                                    "nvidia-modeset"};
  std::ranges::transform(gpus, std::back_inserter(files), gpu_file);
  return files;
}

void name_seen_gpus(std::vector<std::string>& environment, std::size_t count) {
  const auto visible = std::ranges::find_if(
      environment, [](std::string_view entry) { return entry.starts_with(kVisible); });
  if (count == 0 || visible == environment.end()) {
    return;
  }
  *visible = kVisible;
  for (std::size_t i = 0; i < count; ++i) {
    *visible += (i == 0 ? "" : ",") + std::to_string(i);
  }
}

}  // namespace codeflare::node
