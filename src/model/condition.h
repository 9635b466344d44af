#pragma once

#include "model/extra.h"
#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::model {

// One observation about an object. The same struct serves every kind: some kinds add a probe, a
// heartbeat or an update time, which stay unset elsewhere.
struct Condition {
  std::string type;
  std::string status;  // "True", "False" or "Unknown"
  std::string reason;
  std::string message;
  std::optional<std::int64_t> observed_generation;
  std::optional<Time> last_transition_time;
  std::optional<Time> last_probe_time;      // Pod, Job
  std::optional<Time> last_heartbeat_time;  // Node
  std::optional<Time> last_update_time;     // Deployment
  Extra extra;

  friend bool operator==(const Condition&, const Condition&) = default;
};

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);
Condition* find_condition(std::vector<Condition>& conditions, std::string_view type);

// The condition is there and says "True".
bool is_condition_true(const std::vector<Condition>& conditions, std::string_view type);

// Adds the condition or brings the one of its type up to date. The transition time moves only when
// the status changes: to the given one, or to `now` when none is given. An observed generation that
// is not given is left as it was. False when nothing changed, so that callers can skip the write.
bool set_condition(std::vector<Condition>& conditions, const Condition& wanted, Time now);

bool remove_condition(std::vector<Condition>& conditions, std::string_view type);

}  // namespace codeflare::model
