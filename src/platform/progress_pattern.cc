#include "platform/progress_pattern.h"

#include "platform/command_line.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::platform {

namespace {

// The rest of a longer line is not looked at.
constexpr std::size_t kLineBytesMax = 4096;
constexpr std::size_t kValueBytesMax = 32;
constexpr int kGroupsMax = 2;

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  return options;
}

int group_of(const RE2& pattern, const char* name, int otherwise) {
  const auto& names = pattern.NamedCapturingGroups();
  const auto found = names.find(name);
  return found != names.end() ? found->second : names.empty() ? otherwise : 0;
}

std::string value_of(const re2::StringPiece& text) {
  return std::string(text.data(), std::min<std::size_t>(text.size(), kValueBytesMax));
}

}  // namespace

struct ProgressPattern::Parts {
  explicit Parts(std::string_view text) : pattern(re2::StringPiece(text), quiet()) {}

  RE2 pattern;
  int epoch = 0;  // numbers of groups; 0: the pattern has none
  int progress = 0;
};

ProgressPattern::ProgressPattern(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ProgressPattern::ProgressPattern(ProgressPattern&&) noexcept = default;
ProgressPattern& ProgressPattern::operator=(ProgressPattern&&) noexcept = default;
ProgressPattern::~ProgressPattern() = default;

Result<ProgressPattern> ProgressPattern::parse(std::string_view pattern) {
  auto parts = std::make_unique<Parts>(pattern);
  if (!parts->pattern.ok()) {
    return fail(invalid_argument("'" + std::string(pattern) +
                                 "' is not a regular expression: " + parts->pattern.error()));
  }
  const int groups = parts->pattern.NumberOfCapturingGroups();
  if (groups < 1 || groups > kGroupsMax) {
    return fail(invalid_argument("'" + std::string(pattern) + "' has " + std::to_string(groups) +
                                 " groups; write one for the progress, or two: epoch, progress"));
  }
  parts->epoch = group_of(parts->pattern, "epoch", groups == 2 ? 1 : 0);
  parts->progress = group_of(parts->pattern, "progress", groups);
  if (parts->progress == 0) {
    return fail(invalid_argument("'" + std::string(pattern) +
                                 "' has no group progress; write (?P<progress>...)"));
  }
  return ProgressPattern(std::move(parts));
}

std::optional<Progress> ProgressPattern::find(std::string_view line) const {
  std::array<re2::StringPiece, kGroupsMax + 1> groups;
  if (!parts_->pattern.Match(re2::StringPiece(line), 0, line.size(), RE2::UNANCHORED, groups.data(),
                             static_cast<int>(groups.size()))) {
    return std::nullopt;
  }
  Progress found;
  if (parts_->epoch > 0) {
    found.epoch = value_of(groups[static_cast<std::size_t>(parts_->epoch)]);
  }
  found.progress = value_of(groups[static_cast<std::size_t>(parts_->progress)]);
  if (!found.progress.empty() && !found.progress.ends_with('%')) {
    found.progress += '%';
  }
  return found;
}

void check_progress(const model::Application& application, Problems& problems) {
  if (!application.spec.progress) {
    return;
  }
  if (const auto pattern = ProgressPattern::parse(application.spec.progress->pattern); !pattern) {
    problems.add({.object = name_of(application),
                  .field = "spec.progress.pattern",
                  .text = pattern.error().message});
  }
}

void ProgressReader::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n' || c == '\r') {
      take_line();
    } else if (line_.size() < kLineBytesMax) {
      line_.push_back(c);
    }
  }
}

void ProgressReader::end() {
  take_line();
}

void ProgressReader::take_line() {
  if (std::optional<Progress> found = pattern_.find(line_)) {
    last_ = std::move(found);
  }
  line_.clear();
}

}  // namespace codeflare::platform
