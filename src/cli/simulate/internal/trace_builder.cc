#include "cli/simulate/internal/trace_builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <tuple>

namespace codeflare::cli::simulate {

namespace {

// Some 250 years: what 64 bits of nanoseconds hold, with room to wait.
constexpr double kSecondsMax = 8e9;
constexpr std::size_t kShownMax = 40;
constexpr std::size_t kSkippedShown = 5;

}  // namespace

Lines::Lines(std::string_view text) : rest_(text) {
  if (rest_.starts_with("\xef\xbb\xbf")) {
    rest_.remove_prefix(3);
  }
}

bool Lines::next() {
  if (rest_.empty()) {
    return false;
  }
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line_.ends_with('\r')) {
    line_.remove_suffix(1);
  }
  ++number_;
  return true;
}

std::optional<Duration> parse_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0) ||
      seconds > kSecondsMax) {
    return std::nullopt;
  }
  return Duration(std::llround(seconds * 1e9));
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string shown(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, kShownMax)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return out + (text.size() > kShownMax ? "...\"" : "\"");
}

Result<void> TraceBuilder::add(JobLine line) {
  if (line.job.id.empty()) {
    line.job.id = "line-" + std::to_string(line.number);
  } else if (const auto [first, fresh] = first_lines_.emplace(line.job.id, line.number); !fresh) {
    return bad(line.number, "the id " + shown(line.job.id) + " is that of line " +
                                std::to_string(first->second) + " already: each job needs its own");
  }
  if (!line.quota.empty()) {
    auto known = quotas_.find(line.quota);
    if (known == quotas_.end()) {
      const auto number = static_cast<std::uint32_t>(trace_.quotas.size());
      known = quotas_.emplace(std::string(line.quota), number).first;
      trace_.quotas.emplace_back(line.quota);
    }
    line.job.quota = known->second;
  }
  submitted_.push_back(line.submitted);
  trace_.jobs.push_back(std::move(line.job));
  return {};
}

Result<void> TraceBuilder::bad(std::size_t line, const std::string& what) {
  const std::string text = options_.file + ":" + std::to_string(line) + ": " + what;
  if (!options_.skip_bad) {
    return fail(invalid_argument(text));
  }
  ++trace_.skipped;
  if (trace_.first_skipped.size() < kSkippedShown) {
    trace_.first_skipped.push_back(text);
  }
  return {};
}

// By time, then as in the file.
void TraceBuilder::sort() {
  std::vector<std::uint32_t> order(trace_.jobs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(submitted_[a], a) < std::tie(submitted_[b], b);
  });
  std::vector<Job> sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t from : order) {
    sorted.push_back(std::move(trace_.jobs[from]));
  }
  trace_.jobs = std::move(sorted);
}

Trace TraceBuilder::finish() && {
  if (trace_.jobs.empty()) {
    return std::move(trace_);
  }
  const Duration first = *std::ranges::min_element(submitted_);
  trace_.starts = std::chrono::duration<double>(first).count();
  for (std::size_t i = 0; i < submitted_.size(); ++i) {
    trace_.jobs[i].submitted = submitted_[i] - first;
  }
  if (!std::ranges::is_sorted(submitted_)) {
    sort();
  }
  return std::move(trace_);
}

}  // namespace codeflare::cli::simulate
