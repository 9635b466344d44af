#pragma once

#include "base/result.h"
#include "node/wire/keeper_protocol.h"

#include <cstdint>
#include <string>

// /sys/fs/cgroup of containers, by which programs find out what they may use. Read-only.
namespace codeflare::node::internal {

// While the machine's root is still seen: brings the pod's control groups below `at`, by number.
// Kernels that do not allow it are fine: containers see what is made up then.
void bring_groups(const SandboxSpec& sandbox, const std::string& at);

struct GroupView {
  std::string groups;   // where bring_groups() put them
  std::string scratch;  // a directory that the container writes to, but not here
  std::string root;     // of the container
};
// The control group of the container in the version that the kernel has. Where the keeper looks
// after limits, files with the names of version 2: memory.max, memory.current, cpu.max.
Result<void> show_groups(const GroupView& view, const SandboxSpec& sandbox,
                         const ContainerSpec& spec);

// Writes memory.current of a container whose files were made up; `scratch` is open.
void show_memory(int scratch, std::int64_t bytes);

}  // namespace codeflare::node::internal
