#pragma once

#include "base/log.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare {

// Collects what is logged, for tests: "INFO  leader elected lease=a/b", without the time.
//   LogCapture capture; Logger log = capture.logger(env.clock); ...
//   EXPECT_TRUE(capture.has("elected"));
class LogCapture {
 public:
  Logger logger(const Clock& clock, LogLevel level = LogLevel::debug) const {
    return Logger(clock, level, [lines = lines_](const LogRecord& record) {
      std::string line = format_log_text(record);
      lines->push_back(line.substr(line.find(' ') + 1));
    });
  }

  const std::vector<std::string>& lines() const { return *lines_; }
  bool has(std::string_view part) const {
    for (const std::string& line : *lines_) {
      if (line.contains(part)) {
        return true;
      }
    }
    return false;
  }

 private:
  // Shared, so that loggers may outlive the capture.
  std::shared_ptr<std::vector<std::string>> lines_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace codeflare
