#include "queue/work.h"

#include "queue/marks.h"
#include "queue/status_words.h"

#include <algorithm>
#include <chrono>

namespace codeflare::queue {

namespace {

// Longer than anybody waits, and far from overflow in nanoseconds.
constexpr std::int64_t kSecondsMax = std::int64_t{100} * 365 * 86'400;

// No more than the clocks of two machines of a cluster differ.
constexpr Duration kClocksApart = std::chrono::minutes(1);

Duration seconds_of(std::int64_t seconds) {
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kSecondsMax));
}

WallTime submitted(const model::AppWrapper& wrapper, WallTime now) {
  const WallTime second = wrapper.metadata.creation_timestamp.value_or(now);
  // Work that was made anew from a copy keeps its place in line.
  const auto& seen = wrapper.status.controller_first_timestamp;
  if (seen && seen->time < second - kClocksApart) {
    return seen->time;
  }
  // Admission's word, as far as it agrees with the server's, which has whole seconds: neither the
  // clock of another machine nor who writes it where there is no admission wins more than that.
  const auto recorded =
      parse_rfc3339(model::find_or_empty(wrapper.metadata.annotations, kTimeAnnotation));
  if (!recorded) {
    return second;
  }
  return std::clamp(*recorded, second, second + std::chrono::microseconds(999'999));
}

void read_status(const model::AppWrapper& wrapper, Work& work) {
  const model::AppWrapperStatus& status = wrapper.status;
  work.finished = is_terminal(status);
  work.consumed = seconds_of(status.consumed_seconds);
  work.from_mcad = is_from_mcad(status);
  work.goes_on = status.can_run && !work.finished;
  work.not_before = not_before(status);
  if (status.plan) {
    work.plan = status.plan->places;
  }
  if (status.plan && status.plan->started) {
    work.since = status.plan->started->time;
  } else if (status.controller_first_dispatch_timestamp) {
    work.since = status.controller_first_dispatch_timestamp->time;
  }
}

}  // namespace

std::vector<sched::Designation> designations(const model::StringMap& labels) {
  std::vector<sched::Designation> result;
  for (const auto& [key, value] : labels) {
    if (key.find('/') == std::string::npos) {
      result.push_back({key, value});
    }
  }
  return result;
}

Work work_of(const model::AppWrapper& wrapper, model::WrapperApi api, bool user_check,
             WallTime now) {
  Work work{.id = {wrapper.metadata.uid, wrapper.metadata.key(), api},
            .priority = wrapper.spec.priority,
            .slope = wrapper.spec.priority_slope.value_or(0),
            .submitted = submitted(wrapper, now),
            .quota = designations(wrapper.metadata.labels),
            .suspended = wrapper.spec.suspend.value_or(false),
            .deleting = wrapper.metadata.deleting()};
  work.user_known =
      !user_check || !model::find_or_empty(wrapper.metadata.annotations, kUserAnnotation).empty();
  if (wrapper.spec.scheduling_spec && wrapper.spec.scheduling_spec->dispatch_duration) {
    work.expected = seconds_of(wrapper.spec.scheduling_spec->dispatch_duration->expected);
    work.limit = seconds_of(wrapper.spec.scheduling_spec->dispatch_duration->limit);
  }
  read_status(wrapper, work);
  work.demand = [&wrapper] { return demand_of(wrapper); };
  return work;
}

}  // namespace codeflare::queue
