#include "base/async/sleep.h"
#include "base/env/process.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace codeflare {

namespace {

// Less is not worth the walk through the heap.
constexpr std::size_t kWorthwhileBytes = 4u << 20;

#ifdef __GLIBC__
std::size_t heap_bytes() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}
void trim_heap() {
  ::malloc_trim(0);
}
#else
std::size_t heap_bytes() {
  return memory_of_process().resident;
}
void trim_heap() {}
#endif

// Memory that the process has and the heap has no use for; the program itself among it. The heap's
// own number of free bytes does not help: it may have been given back.
std::size_t unused_bytes() {
  const std::size_t resident = memory_of_process().resident;
  return resident - std::min(resident, heap_bytes());
}

}  // namespace

MemoryBytes memory_of_process() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return {.virtual_size = total * page, .resident = resident * page};
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 0;
  }
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max()
                                         : static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    // On failure the limit stays as it is.
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
  }
  return descriptor_limit();
}

Task<void> give_back_memory(Duration every) {
  std::size_t least = unused_bytes();
  while (co_await sleep_for(every)) {
    const std::size_t unused = unused_bytes();
    least = std::min(least, unused);
    if (unused - least < kWorthwhileBytes) {
      continue;
    }
    trim_heap();
    least = unused_bytes();
  }
}

}  // namespace codeflare
