#include "elastic/internal/worker_output.h"

#include <utility>

namespace codeflare::elastic::internal {

namespace {

constexpr std::size_t kTailBytes = 4096;
// A longer line is passed on in pieces.
constexpr std::size_t kLineBytesMax = 16384;

}  // namespace

void WorkerOutput::add(Child::Stream stream, std::string_view text, const Sink& sink) {
  std::string& tail = tail_[stream];
  tail += text;
  if (tail.size() > kTailBytes) {
    tail.erase(0, tail.size() - kTailBytes);
  }
  if (prefix_.empty()) {
    sink(stream, text);
    return;
  }
  std::string& line = unfinished_[stream];
  line += text;
  std::string out;
  for (auto end = line.find('\n'); end != std::string::npos || line.size() > kLineBytesMax;
       end = line.find('\n')) {
    const std::size_t size = end == std::string::npos ? kLineBytesMax : end;
    out += prefix_ + line.substr(0, size) + "\n";
    line.erase(0, end == std::string::npos ? size : size + 1);
  }
  if (!out.empty()) {
    sink(stream, out);
  }
}

void WorkerOutput::finish(const Sink& sink) {
  for (auto& [stream, line] : unfinished_) {
    if (!line.empty()) {
      sink(stream, prefix_ + std::exchange(line, {}) + "\n");
    }
  }
}

std::string WorkerOutput::last_lines() const {
  for (Child::Stream stream : {Child::Stream::error_output, Child::Stream::output}) {
    if (auto at = tail_.find(stream); at != tail_.end() && !at->second.empty()) {
      return at->second;
    }
  }
  return {};
}

}  // namespace codeflare::elastic::internal
