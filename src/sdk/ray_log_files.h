#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "model/gvk.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Ray's own log files, as they lie in the pods of a cluster.
namespace codeflare::sdk {

// Of each file at most its end.
inline constexpr std::uint64_t kLogFileBytesMax = 64u << 20;

// The words that write all log files of a Ray node to standard output: for each a line
// "SIZE PATH", then so many bytes. A shell, find, wc and tail are enough in the image.
std::vector<std::string> log_files_command();

// Reads such an output in pieces. Paths that would leave the directory are an error.
class LogFileReader {
 public:
  // The file as soon as it is complete.
  using Sink = std::function<Result<void>(const std::string& path, std::string_view content)>;
  explicit LogFileReader(Sink sink) : sink_(std::move(sink)) {}

  Result<void> take(std::string_view piece);
  // Fails when the output ended within a file.
  Result<void> finish() const;
  std::size_t files() const { return files_; }

 private:
  Result<bool> read_header();

  Sink sink_;
  std::string pending_;  // what is not read yet
  std::string path_;     // of the file that is being read; empty: a header comes next
  std::uint64_t size_ = 0;
  std::size_t files_ = 0;
};

struct RayNode {
  model::ObjectKey pod;
  std::string container;
};

// Writes the log files of a node below `directory`; how many there were. `service` leads to the API
// server; needs the right to create pods/exec.
Task<Result<std::size_t>> download_log_files(Env env, net::HttpService& service, RayNode node,
                                             std::string directory);

}  // namespace codeflare::sdk
