#include "sched/decision.h"

namespace codeflare::sched {

const char* to_string(Reason why) {
  switch (why) {
    case Reason::none:
      return "nothing";
    case Reason::held:
      return "held";
    case Reason::unknown_quota:
      return "unknown quota";
    case Reason::insufficient_quota:
      return "quota";
    case Reason::no_node_allowed:
      return "excluded";
    case Reason::insufficient_resources:
      return "insufficient";
    case Reason::fragmented:
      return "fragmented";
    case Reason::reserved:
      return "reserved";
    case Reason::preempting:
      return "awaiting victims";
    case Reason::paused:
      return "paused";
    default:
      return "";  // not of the core
  }
}

}  // namespace codeflare::sched
