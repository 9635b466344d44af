#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::s3::internal {

// Stands for a file as it is: changes with its name, size and time of change.
std::uint64_t mark_of(std::string_view path, const FileInfo& info);

// A line of the state file.
std::string line_of(std::uint64_t mark);

// The marks of a state file; eight bytes a file, so that a million of them are 8 MB.
class KnownFiles {
 public:
  static Result<KnownFiles> parse(std::string_view text);
  bool has(std::uint64_t mark) const;

 private:
  std::vector<std::uint64_t> marks_;  // sorted
};

}  // namespace codeflare::s3::internal
