#pragma once

#include "base/time.h"
#include "cli/wrapper_view.h"
#include "model/app_wrapper.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// The line as the AppWrappers' own statuses tell it; pure.
namespace codeflare::cli {

struct QueueView {
  struct Entry {
    std::int64_t position = 0;  // 0: held, in no place of the line
    WrapperView view;
  };
  // Head first; those that are held come last.
  std::vector<Entry> entries;
  std::size_t running = 0;
  bool paused = false;
};

// Those that wait, by priority (the one that the controller counts with, when it tells it), then by
// age, then by name.
QueueView queue_of(const std::vector<model::AppWrapper>& wrappers, bool paused);

struct QueueOptions {
  std::string ns;  // show these alone; positions are those of the whole line
  bool wide = false;
};
// The table and one line that sums it up.
std::string render_queue(const QueueView& queue, const QueueOptions& options, WallTime now);

// What changed from one look to the next, a line each, for `--watch` without a terminal.
std::string render_changes(const QueueView& before, const QueueView& after,
                           const QueueOptions& options);

std::string queue_json(const QueueView& queue, const QueueOptions& options, WallTime now);

}  // namespace codeflare::cli
