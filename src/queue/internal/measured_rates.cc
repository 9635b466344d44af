#include "queue/internal/measured_rates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace codeflare::queue {

namespace {

// The first reports of a group have the rate of the group before, or a pause in it.
constexpr int kReportsIgnored = 3;
constexpr double kNewest = 0.3;  // weight in the average
constexpr double kNews = 0.1;    // a smaller change is noise
constexpr std::size_t kSizesMax = 32;

// A size that was measured as useless would not be tried again: one bad sample would leave nodes
// idle for the life of the job. So more pods always count as a little faster, with this exponent.
// They take what is idle, and give way before others.
constexpr double kLeastExponent = 0.1;
// Of a size that was not seen, as the policy assumes.
constexpr double kUsualExponent = 0.8;

}  // namespace

bool MeasuredRates::note(const model::TrainingJobStatus& status) {
  if (!status.membership || !status.progress) {
    return false;
  }
  const auto size = static_cast<std::int64_t>(status.membership->members.size());
  const double rate = status.progress->samples_per_second.value_or(0);
  const bool whole = size > 0 && size == status.current_size && size == status.ready_size;
  if (!settled(status) || !whole || !(rate > 0) || !std::isfinite(rate)) {
    return false;
  }
  const bool faster = count(size, rate);
  return count_remaining(status.progress->remaining_samples) || faster;
}

bool MeasuredRates::count_remaining(const std::optional<std::int64_t>& samples) {
  const auto now = samples ? std::optional(static_cast<double>(*samples)) : std::nullopt;
  if (now.has_value() == remaining_.has_value() &&
      (!now || std::abs(*now - *remaining_) <= kNews * *remaining_)) {
    return false;
  }
  remaining_ = now;
  return true;
}

bool MeasuredRates::settled(const model::TrainingJobStatus& status) {
  if (status.membership->generation != generation_) {
    generation_ = status.membership->generation;
    reports_ = 0;
    step_ = status.progress->step;
  }
  if (std::exchange(step_, status.progress->step) == status.progress->step) {
    return false;
  }
  reports_ = std::min(reports_ + 1, kReportsIgnored);
  return reports_ == kReportsIgnored;
}

bool MeasuredRates::count(std::int64_t size, double per_second) {
  auto at = std::ranges::lower_bound(rates_, size, {}, &Rate::size);
  if (at == rates_.end() || at->size != size) {
    if (rates_.size() == kSizesMax) {
      // The size that says least about this one.
      const bool first = size - rates_.front().size > rates_.back().size - size;
      rates_.erase(first ? rates_.begin() : rates_.end() - 1);
      at = std::ranges::lower_bound(rates_, size, {}, &Rate::size);
    }
    at = rates_.insert(at, {.size = size, .average = per_second});
  }
  at->average += kNewest * (per_second - at->average);
  if (std::abs(at->average - at->told) <= kNews * at->told) {
    return false;
  }
  at->told = at->average;
  return true;
}

void MeasuredRates::group_ended() {
  generation_ = 0;
  step_ = 0;
  reports_ = 0;
}

sched::Progress MeasuredRates::progress(std::int64_t size_min) const {
  sched::Progress progress;
  for (const Rate& each : rates_) {
    double rate = each.told;
    if (!progress.rates.empty()) {
      const sched::Progress::Rate& smaller = progress.rates.back();
      const double ratio = static_cast<double>(each.size) / static_cast<double>(smaller.size);
      rate = std::max(rate, smaller.per_second * std::pow(ratio, kLeastExponent));
    }
    progress.rates.push_back({.size = each.size, .per_second = rate});
  }
  if (remaining_ && !progress.rates.empty()) {
    const sched::Progress::Rate& least = progress.rates.front();
    const double ratio = static_cast<double>(size_min) / static_cast<double>(least.size);
    const double rate = least.per_second * std::pow(ratio, kUsualExponent);
    progress.remaining = *remaining_ / rate * static_cast<double>(size_min);
  }
  return progress;
}

}  // namespace codeflare::queue
