#include "cli/simulate/original_rule.h"

#include <algorithm>
#include <cstddef>

namespace codeflare::cli::simulate {

namespace {

// Takes `lacking` units from the end of the running jobs; false if they have not that much.
bool squeeze(const std::vector<OriginalJob>& jobs, std::size_t waiting, std::int64_t lacking,
             std::vector<std::int64_t>& sizes) {
  std::int64_t possible = 0;
  for (std::size_t i = 0; i < waiting; ++i) {
    if (sizes[i] > 0 && jobs[i].priority <= jobs[waiting].priority) {
      possible += sizes[i] - jobs[i].min;
    }
  }
  if (possible < lacking) {
    return false;
  }
  for (std::size_t i = waiting; i-- > 0 && lacking > 0;) {
    if (sizes[i] == 0 || jobs[i].priority > jobs[waiting].priority) {
      continue;
    }
    const std::int64_t taken = std::min(lacking, sizes[i] - jobs[i].min);
    sizes[i] -= taken;
    lacking -= taken;
  }
  return true;
}

}  // namespace

std::vector<std::int64_t> original_sizes(const std::vector<OriginalJob>& jobs, std::int64_t units) {
  std::vector<std::int64_t> sizes(jobs.size(), 0);
  std::int64_t idle = units;
  std::size_t next = 0;
  for (; next < jobs.size() && idle >= jobs[next].min; ++next) {
    sizes[next] = std::min(jobs[next].max, idle);
    idle -= sizes[next];
  }
  for (; idle > 0 && next < jobs.size(); ++next) {
    if (idle < jobs[next].min) {
      const std::int64_t lacking = jobs[next].min - idle;
      if (!squeeze(jobs, next, lacking, sizes)) {
        break;
      }
      idle += lacking;
    }
    sizes[next] = std::min(jobs[next].max, idle);
    idle -= sizes[next];
  }
  return sizes;
}

}  // namespace codeflare::cli::simulate
