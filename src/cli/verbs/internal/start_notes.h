#pragma once

#include "base/async/task.h"
#include "base/time.h"
#include "cli/gather/work.h"
#include "cli/session/session.h"

#include <optional>
#include <set>
#include <string>

namespace codeflare::cli::internal {

// The reasons why pods of an AppWrapper do not start, for people who follow its logs. Trouble that
// may heal is reported after some seconds. Events are read only while pods that
// should start report nothing themselves.
class StartNotes {
 public:
  explicit StartNotes(Session& session) : session_(session) {}

  // Empty: nothing, or nothing new.
  Task<std::string> next(GroupedWrapper wrapper, FoundPods found);

 private:
  Task<std::string> lasting(GroupedWrapper wrapper, FoundPods found);
  Task<void> read_events(GroupedWrapper wrapper, FoundPods found);

  Session& session_;
  std::optional<Instant> since_;   // pods have been due to start, without trouble that lasts
  std::optional<Instant> looked_;  // at Events
  std::string warning_;            // the newest then
  std::set<std::string> told_;
};

}  // namespace codeflare::cli::internal
