#include "model/pod_facts.h"

#include "model/condition.h"

namespace codeflare::model {

PodPhase pod_phase(std::string_view word) {
  return word == "Running"     ? PodPhase::running
         : word == "Succeeded" ? PodPhase::succeeded
         : word == "Failed"    ? PodPhase::failed
                               : PodPhase::pending;
}

std::string_view PodFacts::controller_uid() const {
  return controller == nullptr ? std::string_view() : controller->uid;
}

PodFacts facts_of(const Pod& pod) {
  PodFacts facts{.controller = controller_of(pod.metadata),
                 .phase = pod_phase(pod.status.phase),
                 .deleting = pod.metadata.deleting(),
                 .created = pod.metadata.creation_timestamp.value_or(WallTime())};
  if (const Condition* ready = find_condition(pod.status.conditions, "Ready")) {
    facts.ready = ready->status == "True";
    facts.ready_since = ready->last_transition_time.value_or(WallTime());
  }
  return facts;
}

}  // namespace codeflare::model
