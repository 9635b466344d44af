#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "net/http.h"
#include "node/agent/pod_runtime.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::node {

// Parts of files; blocking. Log files grow while they are read.
class LogFiles {
 public:
  virtual ~LogFiles() = default;
  // The content from `offset` on, at most `bytes_max`; empty at the end; not_found.
  virtual Result<std::string> read(const std::string& path, std::uint64_t offset,
                                   std::size_t bytes_max) = 0;
};
std::unique_ptr<LogFiles> make_log_files();

struct LogQuery {
  std::string directory;
  std::int32_t attempt = 0;
  bool timestamps = false;
  std::optional<WallTime> since{};
  std::optional<std::int64_t> tail_lines{};
  std::optional<std::int64_t> limit_bytes{};
  // While it returns true more may come; absent: what is there is all.
  std::function<bool()> follow{};
};

// The text that a container wrote, as a body. Missing files are left out.
net::Body read_log(Env env, LogFiles& files, LogQuery query);

}  // namespace codeflare::node
