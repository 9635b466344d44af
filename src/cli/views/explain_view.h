#pragma once

#include "base/time.h"
#include "cli/views/work_view.h"
#include "cli/views/wrapper_view.h"
#include "queue/report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Why an AppWrapper is not running yet, as text; pure.
namespace codeflare::cli {

struct Explained {
  GroupedWrapper wrapper;
  // From the statuses alone; 0: not in line, or the line cannot be seen.
  std::int64_t position = 0;
  bool paused = false;
  std::string controller_ns{};  // where that is said; empty: the usual one
  // What a queue made of the cluster's objects says, or with `live` the queue of the controller;
  // absent when too little may be seen.
  std::optional<queue::Report> report;
  bool live = false;
  // The amounts that pods outside all AppWrappers hold of its requests; empty: nothing.
  std::string outside;
  // Of one that was dispatched, as far as its pods may be seen.
  std::optional<Work> work{};
  // While it is being deleted: what is still there, "pod a on n1 (finalizers example.com/x)".
  std::vector<std::string> leaving;
  // The objects that could not be seen and why: "nodes: forbidden ...".
  std::vector<std::string> missing;
};

struct PastEvent {
  WallTime time{};
  std::string reason;
  std::string message;
};

std::string render_explanation(const Explained& explained, WallTime now);
// Of an AppWrapper that does not exist any more: its Events, which come oldest first.
std::string render_past(const std::string& name, const std::vector<PastEvent>& events,
                        WallTime now);
std::string explanation_json(const Explained& explained, WallTime now);

}  // namespace codeflare::cli
