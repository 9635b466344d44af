#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::sdk::internal {

// The lines of a text that comes in pieces, each behind a prefix. A text that is read again from
// its beginning goes on where it was cut.
class LineFeed {
 public:
  explicit LineFeed(std::string prefix) : prefix_(std::move(prefix)) {}

  // The lines that are whole now and were not given before.
  std::string take(std::string_view piece) {
    std::string out;
    begun_ += piece;
    std::size_t at = 0;
    for (std::size_t end = begun_.find('\n'); end != std::string::npos;
         end = begun_.find('\n', at)) {
      give(out, std::string_view(begun_).substr(at, end - at));
      at = end + 1;
    }
    begun_.erase(0, at);
    return begun_.size() > kLineBytesMax ? out + rest() : out;
  }
  // The last line, when it has no end.
  std::string rest() {
    std::string out;
    if (!begun_.empty()) {
      give(out, std::exchange(begun_, {}));
    }
    return out;
  }
  // The next piece is from the beginning of the text.
  void start_over() {
    begun_.clear();
    seen_ = 0;
  }

 private:
  // A line that never ends is cut: it must not grow without bound.
  static constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;

  void give(std::string& out, std::string_view line) {
    if (++seen_ > given_) {
      given_ = seen_;
      out.append(prefix_).append(line) += '\n';
    }
  }

  std::string prefix_;
  std::string begun_;
  std::size_t seen_ = 0;   // lines since the beginning of the text
  std::size_t given_ = 0;  // of those that were given
};

}  // namespace codeflare::sdk::internal
