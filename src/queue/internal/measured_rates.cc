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

}  // namespace

bool MeasuredRates::note(const model::TrainingJobStatus& status) {
  if (!status.membership || !status.progress) {
    return false;
  }
  const auto size = static_cast<std::int64_t>(status.membership->members.size());
  const double rate = status.progress->samples_per_second.value_or(0);
  const bool whole = size > 0 && size == status.current_size && size == status.ready_size;
  return settled(status) && whole && rate > 0 && std::isfinite(rate) && count(size, rate);
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

sched::Progress MeasuredRates::progress() const {
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
  return progress;
}

}  // namespace codeflare::queue
