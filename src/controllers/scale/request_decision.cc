#include "controllers/scale/request_decision.h"

#include <algorithm>

namespace codeflare::controllers::scale {

namespace {

using model::MachineState;

// How often machines that are used, or leave, are looked at.
constexpr Duration kLookMin = std::chrono::milliseconds(200);
constexpr Duration kLookPending = std::chrono::seconds(1);
constexpr Duration kLookMax = std::chrono::seconds(5);

Duration look_again(const Patience& patience) {
  return std::clamp<Duration>(patience.down_after / 4, kLookMin, kLookMax);
}

bool is_gone(const RequestDecision& decision, std::size_t machine) {
  return decision.status.machines[machine].phase == kGone;
}

bool all_gone(const RequestDecision& decision) {
  return std::ranges::all_of(decision.status.machines,
                             [](const MachineState& machine) { return machine.phase == kGone; });
}

// The machines as the status had them, in the order of the spec.
void list_machines(const SeenRequest& seen, RequestDecision& decision) {
  const auto& before = seen.request.status.machines;
  decision.status.machines.clear();
  for (const SeenMachine& machine : seen.machines) {
    const auto known = std::ranges::find(before, machine.name, &MachineState::name);
    decision.status.machines.push_back(known == before.end()
                                           ? MachineState{.name = machine.name,
                                                          .type = machine.type,
                                                          .phase = std::string(kPending)}
                                           : *known);
    if (machine.adopted && !machine.node.empty()) {
      decision.status.machines.back().node = machine.node;
    }
  }
}

bool is_usable(const SeenMachine& machine) {
  return machine.ready && machine.adopted;
}

void count_ready(const SeenRequest& seen, RequestDecision& decision) {
  std::size_t ready = 0;
  for (std::size_t i = 0; i < seen.machines.size(); ++i) {
    MachineState& state = decision.status.machines[i];
    if (state.phase == kGone) {
      continue;
    }
    ready += is_usable(seen.machines[i]) ? 1 : 0;
    if (state.phase != kLeaving) {
      state.phase = is_usable(seen.machines[i]) ? kReady : kPending;
    }
  }
  decision.status.ready = std::to_string(ready) + "/" + std::to_string(seen.machines.size());
}

// Cordoned first, so that nobody new comes while it goes.
void let_go(const SeenRequest& seen, std::size_t i, RequestDecision& decision) {
  const SeenMachine& machine = seen.machines[i];
  decision.status.machines[i].phase = kLeaving;
  if (machine.there && !machine.cordoned && !machine.leaves_node) {
    decision.cordon.push_back(i);
  } else {
    decision.give_back.push_back(i);
  }
}

// Everything goes as soon as nobody uses it.
void let_all_go(const SeenRequest& seen, RequestDecision& decision, const Patience& patience) {
  for (std::size_t i = 0; i < seen.machines.size(); ++i) {
    if (!is_gone(decision, i) && (!seen.machines[i].there || !seen.machines[i].used)) {
      let_go(seen, i, decision);
    }
  }
  decision.again = look_again(patience);
}

// The provider's words about the first machine that has some.
std::string note_of(const SeenRequest& seen) {
  const auto found = std::ranges::find_if(seen.machines, [](const SeenMachine& machine) {
    return !is_usable(machine) && !machine.note.empty();
  });
  return found == seen.machines.end() ? std::string() : found->note;
}

void wait_for_machines(const SeenRequest& seen, WallTime now, const Patience& patience,
                       RequestDecision& decision) {
  for (const SeenMachine& machine : seen.machines) {
    if (!machine.problem.empty()) {
      mark_failed(decision, machine.problem, now, patience);
      return;
    }
  }
  if (seen.unwanted_since && now - *seen.unwanted_since >= patience.down_after) {
    decision.status.message = "nobody waits for these machines";
    decision.remove = true;
    decision.again = kLookMin;
    return;
  }
  for (std::size_t i = 0; i < seen.machines.size(); ++i) {
    if (!seen.machines[i].adopted) {
      decision.adopt.push_back(i);
    }
  }
  if (std::ranges::all_of(seen.machines, is_usable)) {
    decision.hand_over = true;
    decision.status.phase = kReady;
    decision.status.message.clear();
    decision.status.ready_time = now;
    decision.again = kLookMin;
    return;
  }
  const std::string note = note_of(seen);
  const WallTime asked = seen.request.metadata.creation_timestamp.value_or(now);
  const Duration left = asked + patience.timeout - now;
  if (left <= Duration::zero()) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience.timeout).count();
    mark_failed(decision,
                decision.status.ready + " machines ready after " + std::to_string(seconds) + " s" +
                    (note.empty() ? "" : ": " + note),
                now, patience);
    return;
  }
  decision.status.message = note.empty() ? "waits for machines" : note;
  decision.ask = true;
  decision.again = std::min<Duration>(left, kLookPending);
}

void keep_machines(const SeenRequest& seen, WallTime now, const Patience& patience,
                   RequestDecision& decision) {
  for (std::size_t i = 0; i < seen.machines.size(); ++i) {
    const SeenMachine& machine = seen.machines[i];
    if (is_gone(decision, i)) {
      continue;
    }
    if (!machine.there) {
      decision.give_back.push_back(i);
      continue;
    }
    if (machine.pending) {
      decision.untaint.push_back(i);
    }
    // Before it was ready nobody could use it.
    const WallTime ready = seen.request.status.ready_time.value_or(WallTime{});
    const bool idle = !machine.used && machine.idle_since &&
                      now - std::max(*machine.idle_since, ready) >= patience.down_after;
    if (idle) {
      let_go(seen, i, decision);
    } else if (machine.used && machine.cordoned && machine.ours) {
      decision.uncordon.push_back(i);
      decision.status.machines[i].phase = kReady;
    }
  }
  decision.again = look_again(patience);
}

}  // namespace

void mark_gone(RequestDecision& decision, std::size_t machine) {
  decision.status.machines[machine].phase = kGone;
}

void mark_failed(RequestDecision& decision, const std::string& words, WallTime now,
                 const Patience& patience) {
  decision.status.phase = kFailed;
  decision.status.message = words;
  decision.status.retry_time = now + patience.timeout;
  decision.ask = false;
  decision.again = kLookMin;
}

RequestDecision decide(const SeenRequest& seen, WallTime now, const Patience& patience) {
  RequestDecision decision{.status = seen.request.status};
  decision.status.observed_generation = seen.request.metadata.generation;
  if (decision.status.phase.empty()) {
    decision.status.phase = kPending;
  }
  list_machines(seen, decision);
  count_ready(seen, decision);
  if (seen.request.metadata.deleting()) {
    let_all_go(seen, decision, patience);
    decision.drop_finalizer = all_gone(decision);
    return decision;
  }
  if (decision.status.phase == kFailed) {
    let_all_go(seen, decision, patience);
    const WallTime retry = decision.status.retry_time.value_or(now);
    if (all_gone(decision)) {
      decision.remove = retry <= now;
      decision.again = std::max<Duration>(retry - now, kLookMin);
    }
    return decision;
  }
  if (decision.status.phase == kReady) {
    keep_machines(seen, now, patience, decision);
    decision.remove = all_gone(decision);
    return decision;
  }
  wait_for_machines(seen, now, patience, decision);
  return decision;
}

}  // namespace codeflare::controllers::scale
