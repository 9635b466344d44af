#include "model/condition.h"

#include <algorithm>

namespace codeflare::model {
namespace {

// Takes over a value that differs; says whether it did.
template <typename T>
bool assign(T& target, const T& value) {
  if (target == value) {
    return false;
  }
  target = value;
  return true;
}

// The optional times a kind may add: absent in `wanted` means "leave it".
bool assign_if_given(std::optional<Time>& target, const std::optional<Time>& value) {
  return value.has_value() && assign(target, value);
}

}  // namespace

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  auto at = std::ranges::find(conditions, type, &Condition::type);
  return at == conditions.end() ? nullptr : &*at;
}

Condition* find_condition(std::vector<Condition>& conditions, std::string_view type) {
  auto at = std::ranges::find(conditions, type, &Condition::type);
  return at == conditions.end() ? nullptr : &*at;
}

bool is_condition_true(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* found = find_condition(conditions, type);
  return found != nullptr && found->status == "True";
}

bool set_condition(std::vector<Condition>& conditions, const Condition& wanted, Time now) {
  Condition* present = find_condition(conditions, wanted.type);
  if (present == nullptr) {
    Condition& added = conditions.emplace_back(wanted);
    if (!added.last_transition_time) {
      added.last_transition_time = now;
    }
    return true;
  }
  bool changed = false;
  if (assign(present->status, wanted.status)) {
    changed = true;
    present->last_transition_time = wanted.last_transition_time.value_or(now);
  }
  changed |= assign(present->reason, wanted.reason);
  changed |= assign(present->message, wanted.message);
  if (wanted.observed_generation) {
    changed |= assign(present->observed_generation, wanted.observed_generation);
  }
  changed |= assign_if_given(present->last_probe_time, wanted.last_probe_time);
  changed |= assign_if_given(present->last_heartbeat_time, wanted.last_heartbeat_time);
  changed |= assign_if_given(present->last_update_time, wanted.last_update_time);
  return changed;
}

bool remove_condition(std::vector<Condition>& conditions, std::string_view type) {
  return std::erase_if(conditions,
                       [&](const Condition& condition) { return condition.type == type; }) > 0;
}

}  // namespace codeflare::model
