#pragma once

#include "base/time.h"
#include "cli/views/wrapper_view.h"
#include "model/app_wrapper.h"
#include "model/labels.h"
#include "model/training_job.h"
#include "queue/queue.h"
#include "queue/settings.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// The line, made of AppWrappers and TrainingJobs alone; pure.
namespace codeflare::cli {

struct QueueView {
  struct Entry {
    std::int64_t position = 0;  // 0: held or to be tried later, in no place of the line
    WrapperView view;
    bool training = false;  // a TrainingJob: of no group of AppWrappers
    std::string user{};
    std::string requests{};  // "4 x 8 GPU"
    std::string quota{};     // the quota nodes that it charges
    model::StringMap labels{};
    std::optional<WallTime> started{};
    Duration limit{};                    // it may run so long; zero: without end
    std::optional<WallTime> expected{};  // its start, when that is known
  };
  // Head first; those that are not in line come last.
  std::vector<Entry> entries;
  // Those with places, oldest first.
  std::vector<Entry> started;
  // Work that completed, failed or was requeued too often; in no order.
  std::vector<Entry> ended;
  std::size_t running = 0;
  bool paused = false;
};

// Gives the queue an AppWrapper as the controller has it: only that can tell whether it believes a
// record of who submitted it, and what it found stands in the status. An AppWrapper that cannot be
// understood stands in no line.
void add_to_queue(queue::Queue& queue, GroupedWrapper wrapper, WallTime now);

// Waiting work, in the order of a queue with these settings. `trees` are the names of the quota
// trees, `jobs` the TrainingJobs in no AppWrapper.
QueueView queue_of(const std::vector<GroupedWrapper>& wrappers, const queue::Settings& settings,
                   bool paused, WallTime now, const std::set<std::string>& trees = {},
                   const std::vector<model::TrainingJob>& jobs = {});

struct QueueOptions {
  std::string ns;  // show these alone; positions are those of the whole line
  bool wide = false;
  bool clusters = false;       // there are worker clusters: say where each runs
  std::string user{};          // submitted by this one; empty: by anybody
  model::Selector selector{};  // of the labels
};
// The table, what runs before what waits, and one line that sums it up. Columns that no line fills
// (group, user, quota, start) are left out.
std::string render_queue(const QueueView& queue, const QueueOptions& options, WallTime now);

// Changes from one look to the next, a line each, for `--watch` without a terminal.
std::string render_changes(const QueueView& before, const QueueView& after,
                           const QueueOptions& options);

// The same as JSON, an object on a line for each change: {"event": "waits"}, "started" and "ended"
// with the members of queue_json(), "deleted", "paused", "resumed".
std::string changes_json(const QueueView& before, const QueueView& after,
                         const QueueOptions& options, WallTime now);

std::string queue_json(const QueueView& queue, const QueueOptions& options, WallTime now);

}  // namespace codeflare::cli
