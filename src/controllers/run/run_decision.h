#pragma once

#include "base/time.h"
#include "controllers/run/run_pods.h"
#include "model/app_wrapper.h"
#include "model/run.h"
#include "platform/compile.h"
#include "platform/progress_pattern.h"
#include "runtime/reconciler.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::runs {

// A Run with what belongs to it, as the caches show it.
struct Observed {
  platform::CompileInput input;  // the Run in it
  std::optional<model::AppWrapper> wrapper;
  std::vector<RunPod> pods;
  std::optional<platform::Progress> progress;  // of the log, as far as it is to be shown
  platform::CompileOptions options{};

  const model::Run& run() const { return input.run; }
};

struct Desired {
  std::optional<model::AppWrapper> create;
  std::string wrapper_patch;  // a merge patch; empty: none
  bool remove_wrapper = false;
  bool remove_run = false;
  model::RunStatus status;
  std::vector<runtime::EventNote> events;
  std::optional<Duration> again;  // look again although nothing changes
};

// Reason of a Run whose AppWrapper somebody deleted.
inline constexpr std::string_view kAppWrapperDeleted = "AppWrapperDeleted";

// Objects of a Run are applied in any order: what it refers to may come this much later.
inline constexpr Duration kPatience = std::chrono::minutes(1);
// A start that is quicker is not reported as one.
inline constexpr Duration kStartPatience = std::chrono::seconds(3);

// The whole life of a Run. Pure.
//
//   Pending → Queued → (Starting →) Running → Completed | Failed
//               ↑↓         Suspended
//
//  - Compiled once, into one AppWrapper; without it the Run is Pending, and Failed for good when it
//    is wrong, or when what it refers to does not come within a minute.
//  - Later changes of suspend and priority go to the AppWrapper; nothing else does.
//  - Completed and Failed stay. An AppWrapper that somebody deleted is not made anew.
Desired decide(const Observed& observed, WallTime now);

}  // namespace codeflare::controllers::runs
