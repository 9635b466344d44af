#pragma once

#include "node/wire/keeper_protocol.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The files in /dev through which programs reach GPUs.
namespace codeflare::node {

// Numbers of the GPUs that the container was granted; of all containers when it has no name.
std::vector<std::int32_t> gpus_of(const std::vector<DeviceGrant>& grants,
                                  std::string_view container = {});

// "nvidia3"
std::string gpu_file(std::int32_t gpu);
// Those of the GPUs and those that all share; none without GPUs. The machine may not have them.
std::vector<std::string> gpu_files(const std::vector<std::int32_t>& gpus);

// CUDA counts the GPUs whose files it can open, from 0 on: that is how a container with the files
// of `count` GPUs has to name them. With none they only pretend, and keep their numbers.
void name_seen_gpus(std::vector<std::string>& environment, std::size_t count);

}  // namespace codeflare::node
