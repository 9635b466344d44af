#include "base/async/sleep.h"
#include "base/process.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <malloc.h>
#include <sys/resource.h>

namespace codeflare {

namespace {

// Less is not worth the walk through the heap.
constexpr std::size_t kWorthwhileBytes = 4u << 20;

#ifdef __GLIBC__
std::size_t free_heap_bytes() {
  return ::mallinfo2().fordblks;
}
void trim_heap() {
  ::malloc_trim(0);
}
#else
std::size_t free_heap_bytes() {
  return 0;
}
void trim_heap() {}
#endif

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 0;
  }
  if (limit.rlim_cur != limit.rlim_max) {
    rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      limit = raised;
    }
  }
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max()
                                         : static_cast<std::size_t>(limit.rlim_cur);
}

Task<void> give_back_memory(Duration every) {
  // What was given back still counts as free in the heap: only more than that is worth a look.
  std::size_t given_back = 0;
  while (co_await sleep_for(every)) {
    const std::size_t free_now = free_heap_bytes();
    given_back = std::min(given_back, free_now);
    if (free_now - given_back < kWorthwhileBytes) {
      continue;
    }
    trim_heap();
    given_back = free_heap_bytes();
  }
}

}  // namespace codeflare
