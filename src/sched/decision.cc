#include "sched/decision.h"

namespace codeflare::sched {

const char* to_string(Why why) {
  switch (why) {
    case Why::nothing:
      return "nothing";
    case Why::held:
      return "held";
    case Why::unknown_quota:
      return "unknown quota";
    case Why::quota:
      return "quota";
    case Why::excluded:
      return "excluded";
    case Why::insufficient:
      return "insufficient";
    case Why::fragmented:
      return "fragmented";
    case Why::reserved:
      return "reserved";
    case Why::awaiting_victims:
      return "awaiting victims";
    case Why::paused:
      return "paused";
  }
  return "";
}

}  // namespace codeflare::sched
