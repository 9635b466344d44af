#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <sys/types.h>
#include <vector>

namespace codeflare::node::internal {

// Kills every process that descends from this one, until there is none, but for those in `spared`
// and theirs; those that are our own children are left to be reaped by whoever waits for them. For
// a subreaper: orphans come back to it, so none escapes.
void kill_descendants(std::span<const pid_t> spared = {});

// The processes that this one sees, at one moment.
class ProcessTable {
 public:
  struct Process {
    pid_t parent = 0;
    char state = '?';
  };

  ProcessTable();

  // Living descendants of this process, but for `spared` and theirs.
  std::vector<pid_t> living_descendants(std::span<const pid_t> spared) const;
  // Bytes of memory that `root` and its descendants use at most: what several of them share counts
  // for each.
  std::int64_t most_memory_of(pid_t root) const;
  // The same with `files` of theirs that lie in memory, but pages that several of them share, and
  // files that they have mapped, count once as far as the kernel tells. No more is looked for than
  // exceeds `enough`. The kernel lets nobody look at a process that is forking: among thousands
  // that do nothing else, each look may have to wait for seconds.
  std::int64_t memory_of(pid_t root, std::int64_t enough, std::int64_t files) const;

 private:
  // `root` first; `spared` and theirs are left out.
  std::vector<pid_t> tree_of(pid_t root, std::span<const pid_t> spared = {}) const;

  std::map<pid_t, Process> processes_;
  std::multimap<pid_t, pid_t> children_;
};

// The bytes in a file system in memory, with what the kernel needs to know it; 0 for none.
std::int64_t bytes_in_memory(int file_system);

}  // namespace codeflare::node::internal
