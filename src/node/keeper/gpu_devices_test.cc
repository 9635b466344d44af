#include "node/keeper/gpu_devices.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

using Files = std::vector<std::string>;
using Gpus = std::vector<std::int32_t>;

const std::vector<DeviceGrant> kGrants = {
    {.container = "init", .resource = "nvidia.com/gpu", .ids = {2}},
    {.container = "main", .resource = "nvidia.com/gpu", .ids = {2, 3}},
    {.container = "side", .resource = "example.com/other", .ids = {7}}};

TEST(GpuDevices, a_container_has_the_files_of_its_own_gpus_and_those_that_all_share) {
  EXPECT_EQ(gpu_files(gpus_of(kGrants, "init")),
            (Files{"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia2"}));
  EXPECT_EQ(gpus_of(kGrants, "main"), (Gpus{2, 3}));
}

TEST(GpuDevices, who_has_no_gpu_has_no_file) {
  EXPECT_EQ(gpu_files(gpus_of(kGrants, "side")), Files{});
  EXPECT_EQ(gpu_files(gpus_of(kGrants, "other")), Files{});
  EXPECT_EQ(gpu_files(gpus_of({})), Files{});
}

TEST(GpuDevices, a_pod_has_those_of_all_its_containers_once) {
  EXPECT_EQ(gpus_of(kGrants), (Gpus{2, 3}));
}

TEST(GpuDevices, gpus_that_are_there_are_named_as_cuda_counts_them) {
  Files environment = {"A=1", "CUDA_VISIBLE_DEVICES=2,3", "Z=2"};
  name_seen_gpus(environment, 2);
  EXPECT_EQ(environment, (Files{"A=1", "CUDA_VISIBLE_DEVICES=0,1", "Z=2"}));
}

TEST(GpuDevices, gpus_that_only_pretend_keep_their_numbers) {
  Files environment = {"CUDA_VISIBLE_DEVICES=2,3"};
  name_seen_gpus(environment, 0);
  EXPECT_EQ(environment, Files{"CUDA_VISIBLE_DEVICES=2,3"});
  Files none = {"A=1"};
  name_seen_gpus(none, 1);
  EXPECT_EQ(none, Files{"A=1"});
}

}  // namespace
}  // namespace codeflare::node
