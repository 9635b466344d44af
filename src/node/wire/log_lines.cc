#include "node/wire/log_lines.h"

namespace codeflare::node {

void LogLines::add(std::string_view bytes, WallTime now, std::string& out) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      const std::size_t room = kLogPartBytes - pending_.size();
      if (bytes.size() < room) {
        pending_.append(bytes);
        return;
      }
      pending_.append(bytes.substr(0, room));
      bytes.remove_prefix(room);
      put(pending_, 'P', now, out);
      pending_.clear();
      continue;
    }
    if (pending_.size() + end > kLogPartBytes) {
      const std::size_t room = kLogPartBytes - pending_.size();
      pending_.append(bytes.substr(0, room));
      bytes.remove_prefix(room);
      put(pending_, 'P', now, out);
      pending_.clear();
      continue;
    }
    if (pending_.empty()) {
      put(bytes.substr(0, end), 'F', now, out);
    } else {
      pending_.append(bytes.substr(0, end));
      put(pending_, 'F', now, out);
      pending_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void LogLines::finish(WallTime now, std::string& out) {
  if (!pending_.empty()) {
    put(pending_, 'P', now, out);
    pending_.clear();
  }
}

void LogLines::put(std::string_view text, char tag, WallTime now, std::string& out) const {
  out += to_rfc3339(now, 9);
  out += ' ';
  out += stream_;
  out += ' ';
  out += tag;
  out += ' ';
  out += text;
  out += '\n';
}

std::optional<LogLine> parse_log_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos || second + 2 > line.size()) {
    return std::nullopt;
  }
  const char tag = line[second + 1];
  const bool ends = second + 2 == line.size();
  if ((tag != 'F' && tag != 'P') || (!ends && line[second + 2] != ' ')) {
    return std::nullopt;
  }
  return LogLine{.time = line.substr(0, first),
                 .stream = line.substr(first + 1, second - first - 1),
                 .partial = tag == 'P',
                 .text = ends ? std::string_view() : line.substr(second + 3)};
}

std::string_view last_lines(std::string_view text, std::size_t lines_max) {
  std::size_t begin = text.size();
  for (std::size_t lines = 0; begin > 0 && lines < lines_max; ++lines) {
    // From before the end of that line.
    const std::size_t end = begin < 2 ? std::string_view::npos : text.rfind('\n', begin - 2);
    begin = end == std::string_view::npos ? 0 : end + 1;
  }
  return text.substr(begin);
}

}  // namespace codeflare::node
