#include "controllers/job/index_set.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace codeflare::controllers::job {

namespace {

std::optional<std::int64_t> to_index(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

IndexSet IndexSet::parse(std::string_view text, std::int64_t completions) {
  IndexSet set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = part.find('-');
    const auto first = to_index(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : to_index(part.substr(dash + 1));
    if (!first || !last || *last < *first || *first >= completions) {
      continue;
    }
    const std::int64_t end = std::min(*last, completions - 1);
    if (!set.intervals_.empty() && set.intervals_.back().last + 1 == *first) {
      set.intervals_.back().last = end;
    } else if (set.intervals_.empty() || set.intervals_.back().last < *first) {
      set.intervals_.push_back({*first, end});
    }
  }
  return set;
}

void IndexSet::add(std::int64_t index) {
  auto at = std::ranges::lower_bound(intervals_, index, {}, &Interval::last);
  if (at != intervals_.end() && at->first <= index) {
    return;
  }
  const bool joins_next = at != intervals_.end() && at->first == index + 1;
  const bool joins_previous = at != intervals_.begin() && std::prev(at)->last == index - 1;
  if (joins_next && joins_previous) {
    std::prev(at)->last = at->last;
    intervals_.erase(at);
  } else if (joins_next) {
    at->first = index;
  } else if (joins_previous) {
    std::prev(at)->last = index;
  } else {
    intervals_.insert(at, {index, index});
  }
}

bool IndexSet::has(std::int64_t index) const {
  auto at = std::ranges::lower_bound(intervals_, index, {}, &Interval::last);
  return at != intervals_.end() && at->first <= index;
}

std::int64_t IndexSet::count() const {
  std::int64_t sum = 0;
  for (const Interval& interval : intervals_) {
    sum += interval.last - interval.first + 1;
  }
  return sum;
}

std::string IndexSet::to_string() const {
  std::string text;
  for (const Interval& interval : intervals_) {
    if (!text.empty()) {
      text += ',';
    }
    text += std::to_string(interval.first);
    if (interval.last > interval.first) {
      text += interval.last == interval.first + 1 ? ',' : '-';
      text += std::to_string(interval.last);
    }
  }
  return text;
}

std::vector<std::int64_t> IndexSet::first_missing(std::size_t most,
                                                  std::int64_t completions) const {
  std::vector<std::int64_t> missing;
  std::int64_t candidate = 0;
  const auto take_below = [&](std::int64_t bound) {
    for (; candidate < bound && missing.size() < most; ++candidate) {
      missing.push_back(candidate);
    }
  };
  for (const Interval& interval : intervals_) {
    take_below(std::min(interval.first, completions));
    candidate = std::max(candidate, interval.last + 1);
  }
  take_below(completions);
  return missing;
}

}  // namespace codeflare::controllers::job
