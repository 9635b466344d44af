#pragma once

#include "controllers/appwrapper/status_machine.h"

#include <optional>
#include <string>

// Pieces of the status machine that its two halves share.
namespace codeflare::controllers::internal {

// The status as it is, ready to be changed and written.
Decision write_of(const Observed& observed, std::string why);

// Ends for good: Failed with this reason. Its objects are deleted afterwards.
Decision fail_with(const Observed& observed, queue::Reason reason, std::string message);

struct Withdrawal {
  queue::Reason reason;  // of PreemptCandidate
  std::string message;
  bool counts = false;  // as a requeuing: it uses up the limit
  bool grows = false;   // the wait before the next look at its health
};
// Back into the queue: its objects are deleted first.
Decision withdraw(const Observed& observed, const Withdrawal& withdrawal);

// The plan is dropped: nothing is held any more, and the time it ran counts as used.
void drop_plan(model::AppWrapperStatus& status, WallTime now);
void copy_counts(const PodsSeen& pods, model::AppWrapperStatus& status);

// Seconds that a dispatched one has before its health counts: the grown wait, else what it asks
// for.
std::int64_t requeue_wait(const model::AppWrapper& wrapper, const model::AppWrapperStatus& status);

// Too often for the server: rather later, together with what comes meanwhile.
Decision not_before(Decision decision, const Observed& observed, Duration every);

// Of one whose copy is on another cluster: the cluster does not answer; its queue does not start
// it.
std::optional<Decision> silence(const Observed& observed);
std::optional<Decision> impatience(const Observed& observed, const MachineOptions& options,
                                   std::optional<Duration>& again);
// Of one that was withdrawn while its copy came to its end: that end is its own.
Decision ended_there(const Observed& observed, const MachineOptions& options);

// Of one that MCAD dispatched: from now on there is a plan, and with it the usual rules.
Decision adopt(const Observed& observed);

// Of a dispatched one that may go on.
Decision running(const Observed& observed, const MachineOptions& options);

}  // namespace codeflare::controllers::internal
