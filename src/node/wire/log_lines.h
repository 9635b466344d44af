#pragma once

#include "base/time.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// The lines of container logs as the container runtime interface writes them:
//   2026-11-16T00:14:39.123456789Z stdout F a whole line
//   2026-11-16T00:14:39.123456789Z stderr P the beginning of a long one
namespace codeflare::node {

// A line that is longer is cut into parts.
inline constexpr std::size_t kLogPartBytes = 16u << 10;

// Makes lines of what one stream of a container writes.
class LogLines {
 public:
  explicit LogLines(std::string_view stream) : stream_(stream) {}

  // Appends the lines that are complete now.
  void add(std::string_view bytes, WallTime now, std::string& out);
  // The rest, when nothing more comes.
  void finish(WallTime now, std::string& out);

 private:
  void put(std::string_view text, char tag, WallTime now, std::string& out) const;

  std::string stream_;
  std::string pending_;
};

// The last of a text's lines, at most so many; a rest without an end is one.
std::string_view last_lines(std::string_view text, std::size_t lines_max);

// One line of a log file, taken apart. Views into it.
struct LogLine {
  std::string_view time;
  std::string_view stream;
  bool partial = false;
  std::string_view text;
};

// Without its end. Nothing when it is not such a line.
std::optional<LogLine> parse_log_line(std::string_view line);

}  // namespace codeflare::node
