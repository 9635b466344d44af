#pragma once

#include "base/result.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace codeflare::platform {

struct Progress {
  std::string epoch;
  std::string percent;  // "42%"

  friend bool operator==(const Progress&, const Progress&) = default;
};

// Finds progress in lines of a log.
class ProgressPattern {
 public:
  // Two groups: epoch and percent. An empty text is the default, "Epoch N: P%".
  static Result<ProgressPattern> parse(std::string_view text);

  std::optional<Progress> find(std::string_view line) const;

 private:
  explicit ProgressPattern(std::shared_ptr<const re2::RE2> pattern)
      : pattern_(std::move(pattern)) {}
  std::shared_ptr<const re2::RE2> pattern_;
};

// The last progress in a log that comes in pieces; a carriage return ends a line, as progress bars
// write. Lines have at most 4096 bytes; the rest of a longer one is ignored.
class ProgressReader {
 public:
  explicit ProgressReader(ProgressPattern pattern) : pattern_(std::move(pattern)) {}

  void take(std::string_view piece);
  const std::optional<Progress>& last() const { return last_; }

 private:
  void end_line();

  ProgressPattern pattern_;
  std::string line_;
  std::optional<Progress> last_;
};

}  // namespace codeflare::platform
