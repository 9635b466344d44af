#pragma once

#include "base/time.h"
#include "node/agent/run_health.h"

#include <cstdint>
#include <optional>

namespace codeflare::node {

// The results of probes and hooks for one run of a container, for decide().
struct ContainerHealth {
  std::int32_t attempt = 0;
  bool started = false;
  bool ready = false;
  bool post_start_pending = false;
  std::optional<Doom> doom{};
  // The preStop hook: when it began, and whether it has ended since.
  std::optional<WallTime> pre_stop_began{};
  bool pre_stop_done = false;
  friend bool operator==(const ContainerHealth&, const ContainerHealth&) = default;
};

}  // namespace codeflare::node
