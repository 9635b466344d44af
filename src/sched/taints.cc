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

std::string_view effect_text(Effect effect) {
  switch (effect) {
    case Effect::no_schedule:
      return "NoSchedule";
    case Effect::prefer_no_schedule:
      return "PreferNoSchedule";
    case Effect::no_execute:
      return "NoExecute";
  }
  return "";
}

std::string taint_text(const Taint& taint) {
  const std::string value = taint.value.empty() ? "" : "=" + taint.value;
  return taint.key + value + ":" + std::string(effect_text(taint.effect));
}

}  // namespace codeflare::sched
