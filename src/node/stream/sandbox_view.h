#pragma once

#include "node/wire/keeper_protocol.h"

#include <string>

namespace codeflare::node {

// The pod's processes as their keeper last reported them.
struct SandboxView {
  bool alive = false;  // false: the keeper is gone and this is what it left
  KeeperState state{};
  friend bool operator==(const SandboxView&, const SandboxView&) = default;
};

// The pods that have processes on this node, by UID. Loop-bound.
class SandboxViews {
 public:
  virtual ~SandboxViews() = default;
  // Null when there is nothing of that pod. Valid until the next turn of the loop.
  virtual const SandboxView* find(const std::string& uid) const = 0;
};

}  // namespace codeflare::node
