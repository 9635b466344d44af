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

  bool descends_from(pid_t process, pid_t ancestor) const;
  // Those that descend from this one and have not ended, but for `spared` and theirs.
  std::vector<pid_t> living_descendants(std::span<const pid_t> spared) const;
  // Bytes of memory that `root` and its descendants use, with `files` of theirs that lie in memory;
  // pages that several of them share, and files that they have mapped, count once as far as the
  // kernel tells. At most `enough` is looked for: a sum below it is a rough one from above.
  std::int64_t memory_of_tree(pid_t root, std::int64_t enough, std::int64_t files) const;

 private:
  std::map<pid_t, Process> processes_;
};

// What lies in a file system in memory, with what the kernel needs to know it; 0 for none.
std::int64_t bytes_in_memory(int file_system);

}  // namespace codeflare::node::internal
