#include "platform/limits.h"

#include "platform/resources.h"

#include <algorithm>
#include <string>

namespace codeflare::platform {

namespace {

// "at least 1", "at most 8", "1 to 8"; empty without bounds.
std::string range_of(const model::RunPolicyBounds& bounds) {
  if (bounds.minimum && bounds.maximum) {
    return bounds.minimum->to_string() + " to " + bounds.maximum->to_string();
  }
  return bounds.minimum   ? "at least " + bounds.minimum->to_string()
         : bounds.maximum ? "at most " + bounds.maximum->to_string()
                          : std::string();
}

void check_bounds(const Policies& policies, const model::EffectiveValue& value,
                  Problems& problems) {
  const auto bounds = policies.bounds_of(value.name);
  const Result<model::Quantity> amount = model::Quantity::parse(value.value);
  if (!bounds) {
    return;
  }
  const std::string field = "spec." + value.name;
  if (const std::string range = range_of(bounds->value); value.value == kNone && !range.empty()) {
    // A pod without a request may take the whole node.
    problems.add(field, "none (from " + value.from + "), but " + bounds->from + " allows " + range +
                            "; set " + field + " or choose another size");
  }
  if (!amount) {
    return;
  }
  if (bounds->value.maximum && *amount > *bounds->value.maximum) {
    problems.add(field, value.value + " (from " + value.from + ") is above the limit " +
                            bounds->value.maximum->to_string() + " of " + bounds->from);
  }
  if (bounds->value.minimum && *amount < *bounds->value.minimum) {
    problems.add(field, value.value + " (from " + value.from + ") is below the limit " +
                            bounds->value.minimum->to_string() + " of " + bounds->from);
  }
}

void check_allowed(const Policies& policies, const model::EffectiveValue& value,
                   model::List<std::string> model::RunPolicyLimits::* member, Problems& problems) {
  const auto allowed = policies.allowed(member);
  if (!allowed || std::ranges::find(allowed->value, value.value) != allowed->value.end()) {
    return;
  }
  std::string list;
  for (const std::string& each : allowed->value) {
    list += (list.empty() ? "" : ", ") + each;
  }
  problems.add("spec." + value.name, "'" + value.value + "' (from " + value.from +
                                         ") is not allowed by " + allowed->from +
                                         "; allowed: " + list);
}

}  // namespace

void check_limits(const Policies& policies, const std::vector<model::EffectiveValue>& effective,
                  Problems& problems) {
  for (const model::EffectiveValue& value : effective) {
    if (value.name == "size") {
      check_allowed(policies, value, &model::RunPolicyLimits::sizes, problems);
    } else if (value.name == "priority") {
      check_allowed(policies, value, &model::RunPolicyLimits::priorities, problems);
    } else {
      check_bounds(policies, value, problems);
    }
  }
}

}  // namespace codeflare::platform
