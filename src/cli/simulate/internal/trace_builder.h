#pragma once

#include "base/result.h"
#include "cli/simulate/trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace codeflare::cli::simulate {

// Lines of a text, without their ends (\n or \r\n), with their numbers.
class Lines {
 public:
  explicit Lines(std::string_view text);
  // False at the end.
  bool next();
  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

// Seconds with an optional fraction, not negative, within what a simulation's clock holds.
std::optional<Duration> parse_seconds(std::string_view text);
std::string_view trim(std::string_view text);
// A word of the input for a message: in quotes, cut short.
std::string shown(std::string_view text);

// A job as a line says it. Without an id it is called by the line.
struct JobLine {
  Job job;
  std::size_t number = 0;  // of the line
  Duration submitted{};    // since the trace's own zero
  std::string_view quota{};
};

// Collects the jobs of a file, whatever its format, and counts what is wrong with it.
class TraceBuilder {
 public:
  explicit TraceBuilder(const TraceOptions& options) : options_(options) {}

  // The error to return: an id is there twice. As with bad().
  Result<void> add(JobLine line);
  bool knows(const std::string& id) const { return first_lines_.contains(id); }
  void leave_out() { ++trace_.left_out; }
  void leave_out_part() { ++trace_.parts; }
  // The error to return, unless bad lines are to be skipped.
  Result<void> bad(std::size_t line, const std::string& what);
  Trace& trace() { return trace_; }

  // Sorts, and counts times from the first submission.
  Trace finish() &&;

 private:
  void sort();

  const TraceOptions& options_;
  Trace trace_;
  std::vector<Duration> submitted_;
  std::map<std::string, std::uint32_t, std::less<>> quotas_;
  std::unordered_map<std::string, std::size_t> first_lines_;  // by id
};

}  // namespace codeflare::cli::simulate
