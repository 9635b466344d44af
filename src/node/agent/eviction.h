#pragma once

#include "model/pod.h"
#include "node/agent/container_spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// The disk usage of pods and its limits. Pure.
namespace codeflare::node {

inline constexpr std::string_view kEvicted = "Evicted";

// Bytes on disk. Writes of containers to other places lie in memory and count there.
struct PodUsage {
  std::map<std::string, std::int64_t> volumes{};  // emptyDir, by name
  std::map<std::string, std::int64_t> logs{};     // by container
  std::int64_t other = 0;                         // last words, files in /etc

  std::int64_t total() const;
  friend bool operator==(const PodUsage&, const PodUsage&) = default;
};

// Why the pod has to go, in a kubelet's words; nothing when it may stay. A pod that says nothing
// about ephemeral-storage may use `default_limit`.
std::optional<StartProblem> eviction_of(const model::PodSpec& spec, const PodUsage& usage,
                                        const model::Quantity& default_limit);

}  // namespace codeflare::node
