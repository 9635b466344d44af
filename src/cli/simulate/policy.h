#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sched/spec.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli::simulate {

// Options of the scheduling core under a name.
struct Policy {
  std::string name = "best-effort";
  // How long the first that does not fit keeps what it waits for; zero: whoever fits may pass.
  Duration holding{};
  // Jobs that end before the first one's turn may pass it: by its limit, else by what was expected,
  // else by how long it really runs.
  bool backfill = false;
  // Priorities of the trace count.
  bool priority = false;
  bool preemption = false;
};

// "best-effort", "fifo", "backfill", "priority", "preemption", or several of them joined by "+":
// "backfill+priority". `holding` is for those that hold; zero: as long as it takes.
Result<Policy> parse_policy(std::string_view text, Duration holding);
// Separated by commas.
Result<std::vector<Policy>> parse_policies(std::string_view text, Duration holding);

sched::Options options_of(const Policy& policy);

}  // namespace codeflare::cli::simulate
