#pragma once

#include "base/async/task.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::cli::internal {

// The place of an AppWrapper in the queue.
struct QueuePlace {
  std::int64_t position = 0;           // 0: none, or not known
  std::optional<WallTime> expected{};  // its start, when that is known

  // "position 2, expected to start in 5m"; empty without a position.
  std::string to_string(WallTime now) const;
};

// Without the right to list AppWrappers there is no position. The expected start takes a look at
// nodes and pods.
Task<QueuePlace> queue_place(Session& session, model::ObjectKey wrapper, bool with_start);

}  // namespace codeflare::cli::internal
