#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Processor time and memory of the containers of pods. Blocks.
namespace codeflare::node {

struct ContainerUse {
  std::string name;
  std::int64_t cpu_nanos = 0;  // since the container started
  std::int64_t memory_bytes = 0;
  friend bool operator==(const ContainerUse&, const ContainerUse&) = default;
};

struct MeasuredPod {
  std::string uid;
  std::string directory;             // that its keeper was started with
  std::vector<std::string> groups;   // control groups, one per hierarchy; may be empty
  std::vector<std::string> running;  // containers, in the order of their starts
};

using PodUses = std::map<std::string, std::vector<ContainerUse>>;  // by uid

// By control groups where a pod has them: memory is the working set, without files that the kernel
// can drop at once. Otherwise by /proc: the processes below each init of the pod, where shared
// pages count in equal parts. Containers of which nothing is known are left out.
PodUses measure_pods(const std::vector<MeasuredPod>& pods);

}  // namespace codeflare::node
