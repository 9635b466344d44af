#pragma once

#include "model/pod.h"
#include "queue/internal/state.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Which pod goes to which node, when we bind: pods of started gangs to their planned places, all
// others as gangs of one.
namespace codeflare::queue {

// Whether we have to find a node for it at all.
bool wants_binding(const QueueState& state, const PodRecord& pod);
// Keeps what is needed to place the pod alone, while that may be asked for.
void keep_constraints(QueueState& state, PodRecord& pod, const model::PodSpec& spec);
// In line as a gang of one if that is its way; out of line if it is not any more.
void look_for_place(QueueState& state, PodRecord& pod);
void drop_loose(QueueState& state, PodRecord& pod);

// After the core's step: a gang of one has its node, and pods of gangs take free places.
void bind_loose(QueueState& state, const sched::Admission& admission,
                std::vector<Binding>& bindings);
void bind_gangs(QueueState& state, std::vector<Binding>& bindings);

// After the core's step: whose place was looked for in vain.
void tell_unplaced(QueueState& state, const std::vector<sched::Refusal>& refused,
                   std::vector<std::string>& unplaced);
std::optional<Queue::Unplaced> unplaced(QueueState& state, std::string_view pod_uid, Time now);

void binding_failed(QueueState& state, std::string_view pod_uid);

}  // namespace codeflare::queue
