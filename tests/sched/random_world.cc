#include "tests/sched/random_world.h"

#include <array>

namespace codeflare::sched {

namespace {

constexpr const char* kGpu = "nvidia.com/gpu";

PodSet random_pod_set(Dice& dice) {
  PodSet set;
  set.count = dice.roll(1, 3);
  set.requests.push_back({"cpu", dice.roll(1, 4)});
  if (dice.chance(40)) {
    set.requests.push_back({kGpu, dice.roll(1, 3)});
  }
  if (dice.chance(25)) {
    set.requests.push_back({"memory", dice.roll(1, 4)});
  }
  if (dice.chance(10)) {
    set.requests.push_back({"nic", 1});
  }
  if (dice.chance(25)) {
    set.selector.emplace_back("zone", dice.chance(50) ? "a" : "b");
  }
  if (dice.chance(15)) {
    const Operator op = dice.chance(50) ? Operator::not_in : Operator::in;
    set.affinity.push_back({{{"pool", op, {"x"}}}});
  }
  if (dice.chance(10)) {
    set.affinity.push_back({{{"gen", Operator::gt, {"1"}}}});
  }
  if (dice.chance(30)) {
    set.tolerations.push_back({.key = "dedicated", .exists = true, .value = {}});
  }
  if (dice.chance(20)) {
    set.apart = dice.chance(70) ? 1 : 2;
  }
  return set;
}

}  // namespace

std::uint64_t Dice::next() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return state_;
}

std::int64_t Dice::roll(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
}

NodeSpec random_node(Dice& dice, int number) {
  NodeSpec node{.name = "n" + std::to_string(number)};
  node.allocatable = {{"cpu", dice.roll(2, 8)}, {"memory", dice.roll(2, 8)}};
  if (dice.chance(60)) {
    node.allocatable.push_back({kGpu, dice.roll(1, 4)});
  }
  if (dice.chance(30)) {
    node.allocatable.push_back({"nic", 1});
  }
  if (dice.chance(70)) {
    node.labels.emplace_back("zone", dice.chance(50) ? "a" : "b");
  }
  if (dice.chance(50)) {
    node.labels.emplace_back("pool", dice.chance(50) ? "x" : "y");
  }
  if (dice.chance(50)) {
    node.labels.emplace_back("gen", std::to_string(dice.roll(1, 3)));
  }
  node.labels.emplace_back("host", node.name);
  if (dice.chance(20)) {
    node.taints.push_back({"dedicated", "ml", Effect::no_schedule});
  }
  node.unschedulable = dice.chance(8);
  return node;
}

GangSpec random_gang(Dice& dice, int number, Time now) {
  GangSpec gang{.name = "g" + std::to_string(number)};
  gang.submitted = now;
  gang.priority = static_cast<std::int32_t>(dice.roll(0, 3));
  if (dice.chance(20)) {
    gang.slope = static_cast<double>(dice.roll(1, 4)) / 8;
  }
  gang.pod_sets.push_back(random_pod_set(dice));
  if (dice.chance(35)) {
    gang.pod_sets.push_back(random_pod_set(dice));
  }
  if (dice.chance(10)) {
    gang.pod_sets.push_back(random_pod_set(dice));
  }
  if (dice.chance(25)) {
    gang.within.keys.emplace_back(dice.chance(60) ? "zone" : "pool");
    if (dice.chance(20)) {
      gang.within.keys.emplace_back("gen");
    }
    if (dice.chance(40)) {
      gang.within.prefer = {{dice.chance(50) ? "a" : "b", "x"}};
    }
  }
  static constexpr std::array kNodes{"gold", "silver", "root", "default", "nowhere"};
  if (dice.chance(75)) {
    const auto which = dice.chance(5) ? 4 : dice.roll(0, 3);
    gang.quota.push_back({"team", kNodes[static_cast<std::size_t>(which)]});
  }
  if (dice.chance(40)) {
    gang.expected = std::chrono::seconds(dice.roll(1, 50));
  }
  if (dice.chance(40)) {
    gang.limit = std::chrono::seconds(dice.roll(1, 80));
  }
  return gang;
}

std::vector<QuotaNode> random_tree(Dice& dice) {
  const auto limits = [&](std::int64_t low, std::int64_t high) {
    Resources result;
    if (dice.chance(80)) {
      result.push_back({"cpu", dice.roll(low, high)});
    }
    if (dice.chance(30)) {
      result.push_back({kGpu, dice.roll(low / 2, high / 2)});
    }
    return result;
  };
  std::vector<QuotaNode> tree{{.name = "root", .limits = limits(10, 24)}};
  tree.push_back(
      {.name = "dept", .parent = "root", .limits = limits(6, 16), .hard = dice.chance(30)});
  tree.push_back(
      {.name = "gold", .parent = "dept", .limits = limits(2, 8), .hard = dice.chance(40)});
  tree.push_back(
      {.name = "silver", .parent = "dept", .limits = limits(2, 8), .hard = dice.chance(20)});
  tree.push_back(
      {.name = "default", .parent = "root", .limits = limits(0, 4), .hard = dice.chance(20)});
  return tree;
}

Resources random_foreign(Dice& dice) {
  return {{"cpu", dice.roll(0, 3)}, {"memory", dice.roll(0, 2)}};
}

}  // namespace codeflare::sched
