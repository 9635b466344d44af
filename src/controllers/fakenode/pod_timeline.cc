#include "controllers/fakenode/pod_timeline.h"

#include "controllers/fakenode/go_duration.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace codeflare::controllers::fakenode {

namespace {

using std::chrono::seconds;

constexpr Duration kShortWork = seconds(1);
// A container that ends at once and restarts must not keep a processor busy.
constexpr Duration kRunMin = std::chrono::milliseconds(1);
constexpr Duration kRestartFirst = seconds(10);
constexpr Duration kRestartMax = std::chrono::minutes(5);

Result<std::optional<Duration>> duration_at(const model::Pod& pod, std::string_view key) {
  const std::string_view text = model::find_or_empty(pod.metadata.annotations, key);
  if (text.empty()) {
    return std::nullopt;
  }
  Result<Duration> duration = parse_go_duration(text);
  if (!duration) {
    return fail(std::move(duration).error().with_context("annotation " + std::string(key)));
  }
  return *duration;
}

Result<std::int32_t> exit_code(const model::Pod& pod) {
  const std::string_view text = model::find_or_empty(pod.metadata.annotations, kExitCodeAnnotation);
  std::int32_t code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (!text.empty() &&
      (error != std::errc() || end != text.data() + text.size() || code < 0 || code > 255)) {
    return fail(invalid_argument("annotation " + std::string(kExitCodeAnnotation) + ": \"" +
                                 std::string(text) + "\" is not a number from 0 to 255"));
  }
  return code;
}

Moment repeated(const Script& script, WallTime start, WallTime now) {
  const Duration run = std::max(*script.duration, kRunMin);
  Duration gap = kRestartFirst;
  Moment moment{.stage = Moment::Stage::running, .began = start};
  while (moment.began + run <= now) {
    moment.ended = moment.began + run;
    if (now < moment.ended + gap) {
      moment.stage = Moment::Stage::backing_off;
      moment.change = moment.ended + gap;
      return moment;
    }
    moment.began = moment.ended + gap;
    ++moment.restarts;
    gap = std::min(gap * 2, kRestartMax);
  }
  moment.change = moment.began + run;
  return moment;
}

Moment undisturbed(const Script& script, WallTime bound, WallTime now) {
  const WallTime start = bound + script.start_delay;
  if (now < start) {
    return {.stage = Moment::Stage::starting, .change = start};
  }
  if (!script.duration) {
    return {.stage = Moment::Stage::running, .began = start};
  }
  if (script.restarts) {
    return repeated(script, start, now);
  }
  const WallTime end = start + *script.duration;
  if (now < end) {
    return {.stage = Moment::Stage::running, .began = start, .change = end};
  }
  return {.stage = Moment::Stage::ended, .began = start, .ended = end};
}

}  // namespace

Result<Script> script_of(const model::Pod& pod) {
  Script script;
  TRY_ASSIGN(const std::optional<Duration> delay, duration_at(pod, kStartDelayAnnotation));
  script.start_delay = delay.value_or(Duration::zero());
  TRY_ASSIGN(script.duration, duration_at(pod, kDurationAnnotation));
  TRY_ASSIGN(script.exit_code, exit_code(pod));
  const bool always = pod.spec.restart_policy.empty() || pod.spec.restart_policy == "Always";
  if (!script.duration && !always) {
    script.duration = kShortWork;
  }
  script.restarts = always || (pod.spec.restart_policy == "OnFailure" && script.exit_code != 0);
  if (pod.spec.active_deadline_seconds) {
    script.deadline = seconds(*pod.spec.active_deadline_seconds);
  }
  return script;
}

Moment moment_of(const Script& script, WallTime bound, WallTime now) {
  Moment moment = undisturbed(script, bound, now);
  if (!script.deadline || moment.stage == Moment::Stage::ended) {
    return moment;
  }
  const WallTime deadline = bound + *script.deadline;
  if (now >= deadline) {
    moment.stage = Moment::Stage::ended;
    moment.past_deadline = true;
    moment.ended = deadline;
    moment.change.reset();
  } else if (!moment.change || *moment.change > deadline) {
    moment.change = deadline;
  }
  return moment;
}

}  // namespace codeflare::controllers::fakenode
