#pragma once

#include "base/env/children.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace codeflare::elastic::internal {

// The output of one worker: passed on as it comes (with a prefix per line where there are several
// workers), and its last part held for the message of a failure.
class WorkerOutput {
 public:
  using Sink = std::function<void(Child::Stream, std::string_view)>;
  explicit WorkerOutput(std::string prefix = {}) : prefix_(std::move(prefix)) {}

  void add(Child::Stream stream, std::string_view text, const Sink& sink);
  // Passes on a last line without an end.
  void finish(const Sink& sink);
  // Of standard error, or of standard output when there was none.
  std::string last_lines() const;

 private:
  std::string prefix_;
  std::map<Child::Stream, std::string> unfinished_;
  std::map<Child::Stream, std::string> tail_;
};

}  // namespace codeflare::elastic::internal
