#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/extra.h"
#include "model/gvk.h"
#include "model/list.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Code of jobs on its way to pods: a directory travels in Secrets, in parts, and an init container
// with our own program unpacks it. So any image will do for the job itself.
namespace codeflare::sdk {

inline constexpr std::uint64_t kCodeBytesMax = std::uint64_t{8} << 20;  // of the files
inline constexpr std::size_t kCodePartBytes = std::size_t{900} << 10;   // a Secret holds 1 MiB
inline constexpr std::string_view kCodeVolume = "code";
inline constexpr std::string_view kCodeDirectory = "/workspace";  // where pods see it

// A packed directory. Its parts are the same for the same files.
struct CodeArchive {
  std::string source{};    // the directory
  std::string digest{};    // of names and contents
  std::string bytes{};     // a zip
  std::uint64_t size = 0;  // of the files
  std::size_t files = 0;

  bool empty() const { return files == 0; }
  std::size_t parts() const { return (bytes.size() + kCodePartBytes - 1) / kCodePartBytes; }
  // "12 files, 34.5 KiB"
  std::string summary() const;
};

// Reads files and blocks: call it through run_blocking. Ignore files (.gitignore, .rayignore) count
// at every level. too_large beyond 8 MiB, with the size and the ten largest files.
Result<CodeArchive> pack_code(FileSystem& files, const std::string& directory);

// Unpacks the parts that lie as files in `from` below `to`; nothing is written outside of it.
// Returns the number of files. Blocks.
Result<std::size_t> unpack_code(FileSystem& files, const std::string& from, const std::string& to);

// The parts of a pod that bring the code of a job: JSON lists to add to its spec.
struct CodeMounts {
  model::RawJson volumes;
  model::RawJson volume_mounts;  // of the containers that use the code
  model::RawJson init_containers;
};
// The init container has the CPU and memory of the main one: a pod needs the larger of both.
CodeMounts code_mounts(const std::string& job, std::size_t parts, const std::string& image,
                       const model::StringMap& resources);

// The owner of the Secrets, which are deleted with it.
struct CodeOwner {
  model::ObjectKey wrapper;  // an AppWrapper
  std::string uid;
};

// Creates the Secrets that are not there yet. A Secret of the same name that belongs to somebody
// else is an error.
Task<Result<void>> send_code(kube::Client& client, CodeOwner owner, const CodeArchive& archive);

}  // namespace codeflare::sdk
