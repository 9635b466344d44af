#pragma once

#include "base/async/task.h"
#include "base/time.h"

#include <cstddef>

namespace codeflare {

// How many files may be open at a time, as things are.
std::size_t descriptor_limit();

// Raises the soft limit of open files to the hard one: a server needs one per connection, and the
// usual soft limit is made for programs that call select(). Returns what is allowed now.
std::size_t raise_descriptor_limit();

struct MemoryBytes {
  std::size_t virtual_size = 0;
  std::size_t resident = 0;
};
// As the kernel counts it now.
MemoryBytes memory_of_process();

// Gives memory back that a burst of work left behind. Freed memory stays with the process as long
// as anything behind it in the heap is in use, so a server that had many clients for a minute would
// stay large for good. Looks now and then; costs next to nothing while there is little. Ends when
// stopped. Not for simulation.
Task<void> give_back_memory(Duration every = std::chrono::seconds(3));

}  // namespace codeflare
