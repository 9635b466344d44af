#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/env/file_handle.h"
#include "base/result.h"
#include "s3/client.h"

#include <cstdint>
#include <string>

namespace codeflare::s3 {

struct CopyOptions {
  std::string directory;  // of the disk
  std::string prefix;     // directory of the bucket: "" or "a/b/"
  // Lists the copied files, so that copy_back() finds changes; empty: none.
  std::string state_file{};
  bool writable = false;  // others than us may write the files
  int at_once = 8;
  // Larger files are copied back in parts of at least this size. Stores demand 5 MiB.
  std::uint64_t part_bytes = 64ull << 20;
};

struct CopyCount {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;  // links and devices, which no object can be
};

// "a/b/" of "/a/b", "a/b" and "a/b/"; "" stays.
std::string directory_prefix(std::string_view prefix);

// All objects of the directory, page by page, `at_once` at a time. A connection that breaks goes on
// where it broke; every size is compared with the listing. No object is ever held as a whole. Files
// of an earlier attempt are replaced.
Task<Result<CopyCount>> copy_in(Client& client, FileHandles& handles, CopyOptions options);

// Files that are new or changed since copy_in(). Objects whose files are gone stay. Large files go
// in parts, several at a time; an upload that fails is dropped.
Task<Result<CopyCount>> copy_back(Client& client, FileHandles& handles, CopyOptions options);

}  // namespace codeflare::s3
