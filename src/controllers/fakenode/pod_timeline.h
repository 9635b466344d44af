#pragma once

#include "base/result.h"
#include "base/time.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>
#include <string_view>

// The pretended work of a pod on a fake node, and its times. Pure.
namespace codeflare::controllers::fakenode {

// Go durations ("90s"). Without a duration a pod with restartPolicy Always runs indefinitely,
// others run for one second and succeed.
inline constexpr std::string_view kDurationAnnotation = "codeflare.dev/duration";
// Of its containers when the duration is over; 0 unless given.
inline constexpr std::string_view kExitCodeAnnotation = "codeflare.dev/exit-code";
// Between being bound and running, as pulling an image would take.
inline constexpr std::string_view kStartDelayAnnotation = "codeflare.dev/start-delay";

struct Script {
  Duration start_delay{};
  std::optional<Duration> duration;  // absent: indefinitely
  std::int32_t exit_code = 0;
  bool restarts = false;  // containers begin again when they have ended
  std::optional<Duration> deadline;
};

// Fails when an annotation cannot be read.
Result<Script> script_of(const model::Pod& pod);

struct Moment {
  enum class Stage : std::uint8_t { starting, running, backing_off, ended };
  Stage stage = Stage::starting;
  bool past_deadline = false;
  std::int32_t restarts = 0;
  WallTime began{};                // of the run, also of one that is over
  WallTime ended{};                // of the run, when it is over
  std::optional<WallTime> change;  // when the next moment comes
};

// Where a pod bound at `bound` is now. Containers that restart wait 10 s, 20 s, ... 5 min first.
Moment moment_of(const Script& script, WallTime bound, WallTime now);

}  // namespace codeflare::controllers::fakenode
