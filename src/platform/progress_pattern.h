#pragma once

#include "base/result.h"
#include "model/application.h"
#include "platform/problem.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::platform {

// A program's report about its progress.
struct Progress {
  std::string epoch{};     // empty: the line does not say
  std::string progress{};  // "42%"

  friend bool operator==(const Progress&, const Progress&) = default;
};

// Finds progress in lines of a log. Groups of the pattern (RE2) have the names `epoch` and
// `progress`; without names the first of two is the epoch, and a single one is the progress.
class ProgressPattern {
 public:
  static constexpr std::string_view kDefault = R"(Epoch\s+(\d+):\s*(\d+(?:\.\d+)?)\s*%)";

  static Result<ProgressPattern> parse(std::string_view pattern = kDefault);
  ProgressPattern(ProgressPattern&&) noexcept;
  ProgressPattern& operator=(ProgressPattern&&) noexcept;
  ~ProgressPattern();

  std::optional<Progress> find(std::string_view line) const;

 private:
  struct Parts;
  explicit ProgressPattern(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

void check_progress(const model::Application& application, Problems& problems);

// Cuts a stream of bytes into lines and keeps the last progress in them. A carriage return ends a
// line too, as progress bars use it.
class ProgressReader {
 public:
  explicit ProgressReader(ProgressPattern pattern) : pattern_(std::move(pattern)) {}

  void feed(std::string_view bytes);
  // The rest of the log is a line, too.
  void end();
  const std::optional<Progress>& last() const { return last_; }

 private:
  void take_line();

  ProgressPattern pattern_;
  std::string line_;
  std::optional<Progress> last_;
};

}  // namespace codeflare::platform
