#pragma once

#include "model/container.h"
#include "model/pod.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The limits of a container, and how they are written into control groups. Pure.
namespace codeflare::node {

// Processes and threads of a pod.
inline constexpr std::int64_t kProcessesMax = 8192;
// Of all pods of a node together, of the `available` process ids: a quarter stays for the machine.
constexpr std::int64_t node_processes_max(std::int64_t available) {
  return available - available / 4;
}
// Of a container where groups are not to be had: nothing else keeps one that only forks from taking
// the machine. The more processors share the burden, the more it may have.
std::int64_t soft_processes_max(std::int64_t processors);

// Zero: not limited, nothing asked for.
struct ResourceBounds {
  std::int64_t memory_limit = 0;  // in bytes
  std::int64_t cpu_limit_milli = 0;
  std::int64_t cpu_request_milli = 0;
  std::int64_t pids_limit = 0;
  bool holds_others = false;  // groups of containers: who is killed for want of memory dies alone
  friend bool operator==(const ResourceBounds&, const ResourceBounds&) = default;
};

// A request that is not given is the limit, as servers have it.
ResourceBounds bounds_of(const model::Container& container);
// Of the pod as a whole: its share of the processors, a bound for fork bombs, and the memory of all
// containers together when every one has a limit. Each has its own bounds beside.
ResourceBounds bounds_of(const model::PodSpec& spec);

enum class GroupVersion : std::uint8_t { v1, v2 };

struct GroupSetting {
  std::string_view controller;  // "memory"; where version 1 has it in a hierarchy of its own
  std::string_view file;
  std::string value;
  bool optional = false;  // kernels may be without it
  friend bool operator==(const GroupSetting&, const GroupSetting&) = default;
};

// In the order in which they have to be written.
std::vector<GroupSetting> group_settings(GroupVersion version, const ResourceBounds& bounds);

// How early a container of the pod is killed when the machine has no memory left, 2 to 1000: who
// asked for nothing first, then who asked for little of the machine's `memory`, as a kubelet has
// it. Never less than others have: that would take a privilege.
std::int32_t oom_score_of(const model::PodSpec& spec, const model::Container& container,
                          std::int64_t memory);

// How much nicer a container is to others where groups are not to be had: 5 with a whole processor
// asked for, so that its keeper and the agent come first, 3 more each time that is halved, 15 when
// nothing is asked for.
int niceness_of(std::int64_t cpu_request_milli);

}  // namespace codeflare::node
