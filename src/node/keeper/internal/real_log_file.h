#pragma once

#include "base/posix.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::node::internal {

// The log of one run: DIR/ATTEMPT.SEQ.log, a new file when one is full, the oldest dropped. A disk
// that is full loses lines, never the container.
class LogFile {
 public:
  struct Limits {
    std::uint64_t bytes_max = 10u << 20;
    std::uint32_t files_max = 5;
  };
  LogFile(std::string directory, std::int32_t attempt, Limits limits)
      : directory_(std::move(directory)), attempt_(attempt), limits_(limits) {}

  // Whole lines.
  void write(std::string_view lines);

 private:
  std::string path(std::uint32_t sequence) const;
  bool open_next();

  std::string directory_;
  std::int32_t attempt_;
  Limits limits_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
  std::uint32_t next_ = 0;
};

// Removes the logs of runs before `attempt`.
void remove_old_logs(const std::string& directory, std::int32_t attempt);

}  // namespace codeflare::node::internal
