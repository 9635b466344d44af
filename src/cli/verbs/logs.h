#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::cli {

extern const Verb kLogs;

struct LogsFlags {
  std::string kind;
  std::string name;
  std::string container;  // empty: all of them
  bool follow = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail{};  // lines of each container
};
// `codeflare logs appwrapper NAME`: of all its pods, each line behind the name of its pod. With
// `follow` also of those that come later, until the AppWrapper has ended: then the exit code says
// whether it completed.
Task<int> run_logs(Session& session, LogsFlags flags);

// Puts a prefix before every line of a text that comes in pieces.
class LinePrefix {
 public:
  explicit LinePrefix(std::string prefix) : prefix_(std::move(prefix)) {}

  // The lines that are whole now, with their prefix; empty when none is.
  std::string take(std::string_view piece);
  // The rest without a line end.
  std::string rest();

 private:
  std::string prefix_;
  std::string begun_;
};

}  // namespace codeflare::cli
