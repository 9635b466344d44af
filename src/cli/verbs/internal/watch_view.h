#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "model/gvk.h"

#include <functional>
#include <string>
#include <vector>

namespace codeflare::cli::internal {

// One look at what `--watch` shows.
struct Look {
  std::function<std::string(WallTime now)> render;  // as the verb prints it
  bool ended = false;                               // nothing will change any more
};

struct WatchedView {
  std::vector<model::ResourceType> kinds{};  // a change of one of these makes a new look
  std::string ns{};                          // empty: all namespaces
  std::function<Task<Result<Look>>()> look;
};

// Shows a view until it ends or the task is cancelled: redraws on a terminal; elsewhere prints it
// once and then the lines that change, times apart, or with -o json or yaml all of it at each
// change. The exit code.
Task<int> watch_view(Session& session, WatchedView view);

// The lines of `now` that `before` has not.
std::string new_lines(const std::string& before, const std::string& now);

}  // namespace codeflare::cli::internal
