#pragma once

#include "base/time.h"
#include "queue/queue.h"
#include "tests/sim/sim_queue_judge.h"

#include <cstdint>
#include <map>
#include <string>

// Rules that must hold when faults have ended and everybody had time. Each answer is one thing that
// does not, in words; empty: all is well.
namespace codeflare::sim {

// Something is still under way, stuck or left over.
std::string unrest(const QueueJudge& judge);
// A new queue that looks at the same objects would start, stop or bind something.
std::string could_run(const QueueJudge& judge, const queue::QueueOptions& options, WallTime now);
// All AppWrappers have been deleted, and something of them is there.
std::string left_over(const QueueJudge& judge);

// The free CPUs of each node beside its pods, in thousandths.
std::map<std::string, std::int64_t> free_millicores(const QueueJudge& judge);

}  // namespace codeflare::sim
