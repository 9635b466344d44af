#include "platform/progress.h"

#include <re2/re2.h>

namespace codeflare::platform {

namespace {

constexpr std::string_view kDefaultPattern = R"(Epoch (\d+):\s*(\d+)%)";
constexpr std::size_t kLineMax = 4096;
constexpr int kGroups = 2;

}  // namespace

Result<ProgressPattern> ProgressPattern::parse(std::string_view text) {
  const std::string_view chosen = text.empty() ? kDefaultPattern : text;
  RE2::Options options;
  options.set_log_errors(false);
  auto pattern =
      std::make_shared<const RE2>(re2::StringPiece(chosen.data(), chosen.size()), options);
  if (!pattern->ok()) {
    return fail(invalid_argument("pattern " + std::string(chosen) +
                                 " is not a regular expression: " + pattern->error()));
  }
  if (pattern->NumberOfCapturingGroups() != kGroups) {
    return fail(invalid_argument("pattern " + std::string(chosen) + " has " +
                                 std::to_string(pattern->NumberOfCapturingGroups()) +
                                 " groups; write two, for epoch and percent"));
  }
  return ProgressPattern(std::move(pattern));
}

std::optional<Progress> ProgressPattern::find(std::string_view line) const {
  Progress found;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *pattern_, &found.epoch,
                         &found.percent)) {
    return std::nullopt;
  }
  if (!found.percent.ends_with('%')) {
    found.percent += '%';
  }
  return found;
}

void ProgressReader::take(std::string_view piece) {
  for (const char c : piece) {
    if (c == '\n' || c == '\r') {
      end_line();
    } else if (line_.size() < kLineMax) {
      line_ += c;
    }
  }
}

void ProgressReader::end_line() {
  if (auto found = pattern_.find(line_)) {
    last_ = *std::move(found);
  }
  line_.clear();
}

}  // namespace codeflare::platform
