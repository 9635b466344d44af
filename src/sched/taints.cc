#include "sched/taints.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

bool matches(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) {
    return false;
  }
  if (toleration.key.empty()) {
    return toleration.exists;
  }
  if (toleration.key != taint.key) {
    return false;
  }
  return toleration.exists || toleration.value == taint.value;
}

}  // namespace

Taint cordon() {
  return {"node.kubernetes.io/unschedulable", "", Effect::no_schedule};
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::ranges::any_of(
      tolerations, [&](const Toleration& toleration) { return matches(toleration, taint); });
}

}  // namespace codeflare::sched
