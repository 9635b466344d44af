#include "sched/internal/line.h"
#include "sched/internal/pass.h"

// How reasons stay true. A lane sleeps until something can help it; what is free changes meanwhile,
// and with it why it waits. Nobody is tried here: only words change, among those that wait for
// places, and alarms stay set.
namespace codeflare::sched {

namespace {

// The effort of one review: lanes, and node classes for the shapes among them. About half a
// millisecond, so that a caller who asks every second does not notice.
constexpr std::size_t kEffortMax = std::size_t{1} << 14;

}  // namespace

void Pass::refresh(Index lane) {
  const Lane& waiting = state_.lanes[lane];
  if (waiting.ready || !waits_for_places(waiting.why)) {
    return;
  }
  block(lane, {reason_now(state_, waiting.key.shape)});
}

void Pass::review() {
  if (state_.review_left == 0) {
    state_.review_left = state_.lanes.all().size();
    state_.reviewed_at = state_.cluster.changes();
  }
  std::size_t effort = 0;
  for (; state_.review_left > 0 && effort < kEffortMax; --state_.review_left) {
    const Index lane = state_.review_next;
    state_.review_next = (lane + 1) % static_cast<Index>(state_.lanes.all().size());
    ++effort;
    const Lane& waiting = state_.lanes[lane];
    if (!waiting.alive || waiting.ready || waiting.heap.empty()) {
      continue;
    }
    const Shape& shape = state_.shapes[waiting.key.shape];
    if (shape.why_at != state_.cluster.changes()) {
      effort += reason_effort(state_, shape);
    }
    refresh(lane);
    // The head may have come to the head of its lane only after the report.
    const Index head = waiting.heap.front();
    if (!state_.gangs[head].fresh) {
      changed_.push_back(state_.gangs.id(head));
    }
  }
  report_changed();
}

}  // namespace codeflare::sched
