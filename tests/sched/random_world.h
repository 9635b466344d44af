#pragma once

#include "sched/core.h"

#include <cstdint>
#include <string>
#include <vector>

namespace codeflare::sched {

// Numbers from a seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  std::uint64_t next();
  // Uniform in [low, high].
  std::int64_t roll(std::int64_t low, std::int64_t high);
  bool chance(int percent) { return roll(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

// Small worlds in which things collide: few nodes, few shapes, tight quotas.
NodeSpec random_node(Dice& dice, int number);
GangSpec random_gang(Dice& dice, int number, Time now);
std::vector<QuotaNode> random_tree(Dice& dice);
Resources random_foreign(Dice& dice);

}  // namespace codeflare::sched
