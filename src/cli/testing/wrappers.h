#pragma once

#include "base/time.h"
#include "cli/views/wrapper_view.h"

#include <string>
#include <tuple>
#include <utility>

namespace codeflare::cli::testing {

inline constexpr WallTime kNow{std::chrono::seconds(1'700'000'000)};

// One that was submitted `age` before kNow and that no controller has seen.
inline GroupedWrapper wrapper(std::string name, Duration age = std::chrono::minutes(5)) {
  GroupedWrapper out;
  out.metadata.ns = "default";
  out.metadata.name = std::move(name);
  out.metadata.uid = "uid-" + out.metadata.name;
  out.metadata.creation_timestamp = kNow - age;
  out.spec.resources.generic_items.emplace_back().generic_template.text =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})";
  return out;
}

inline void add_condition(GroupedWrapper& to, std::string type, std::string reason,
                          std::string message, Duration age = std::chrono::minutes(1)) {
  model::AppWrapperCondition condition;
  condition.type = std::move(type);
  condition.status = "True";
  condition.reason = std::move(reason);
  condition.message = std::move(message);
  condition.last_transition = model::MicroTime{kNow - age};
  to.status.conditions.push_back(std::move(condition));
}

inline GroupedWrapper waiting(std::string name, Duration age = std::chrono::minutes(5)) {
  GroupedWrapper out = wrapper(std::move(name), age);
  out.status.state = "Pending";
  add_condition(out, "Queueing", "AwaitingHeadOfLine", "");
  add_condition(out, "Queued", "InsufficientResources", "cpu: 12 asked, 3 free of 16");
  return out;
}

inline GroupedWrapper running(std::string name) {
  GroupedWrapper out = wrapper(std::move(name));
  out.status.state = "Running";
  out.status.can_run = true;
  out.status.running = 2;
  out.status.pending = 1;
  out.status.plan.emplace();
  for (const auto& [set, node, count] :
       {std::tuple{0, "node-1", 1}, std::tuple{1, "node-1", 1}, std::tuple{1, "node-2", 1}}) {
    model::PlannedPlace place;
    place.pod_set = set;
    place.node = node;
    place.count = count;
    out.status.plan->places.push_back(std::move(place));
  }
  out.status.plan->started = model::MicroTime{kNow - std::chrono::seconds(90)};
  return out;
}

// The same name in MCAD's group.
inline GroupedWrapper namesake(GroupedWrapper of) {
  of.metadata.uid += "-legacy";
  of.api = model::WrapperApi::mcad_v1beta1;
  return of;
}

}  // namespace codeflare::cli::testing
