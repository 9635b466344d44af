#include "sched/internal/growth_policy.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace codeflare::sched {

namespace {

// Assumed of a gang until two of its sizes were seen.
constexpr double kExponent = 0.8;

// The gain of the logarithm of the speed for each unit: adding most to the product of all speeds is
// fair in proportion and close to the shortest mean completion. Weighted so that short work goes
// first: by what is left where that is known, else by what was had, as most of what has run long
// runs longer still.
class Throughput final : public GrowthPolicy {
 public:
  Worth worth(const GrowthView& gang, std::int64_t from, std::int64_t to) const override {
    const double units = static_cast<double>(to - from) * std::max(gang.unit, 1e-12);
    return {.own = weight(gang) * gain(gang, from, to) / units};
  }
  // A trade interrupts two gangs: it has to be clearly better.
  bool trades(const Worth& gain, const Worth& loss) const override {
    return gain.own > std::max(loss.own, 0.0) * kTradeMargin;
  }
  bool pays(const GrowthView& gang, std::int64_t from, std::int64_t to,
            Duration cost) const override {
    using Seconds = std::chrono::duration<double>;
    // A gang that has run for an hour is expected to run for another.
    const double ahead = std::max(Seconds(gang.running).count(), kAheadMin);
    const double faster = std::exp(gain(gang, from, to));
    return ahead * (1 - 1 / faster) > Seconds(cost).count();
  }

 private:
  static constexpr double kTradeMargin = 1.25;
  static constexpr double kAheadMin = 300;
  static constexpr double kHour = 3600;

  static double gain(const GrowthView& gang, std::int64_t from, std::int64_t to) {
    static const Progress kNothing;
    const Progress& progress = gang.progress == nullptr ? kNothing : *gang.progress;
    return std::log(speed_at(progress, to)) - std::log(speed_at(progress, from));
  }
  static double weight(const GrowthView& gang) {
    if (gang.progress != nullptr && gang.progress->remaining) {
      return 1 / std::sqrt(1 + std::max(0.0, *gang.progress->remaining) / kHour);
    }
    return 1 / std::sqrt(1 + gang.attained / kHour);
  }
};

}  // namespace

double speed_at(const Progress& progress, std::int64_t size) {
  const auto n = static_cast<double>(std::max<std::int64_t>(size, 1));
  const Progress::Rate* below = nullptr;
  const Progress::Rate* above = nullptr;
  for (const Progress::Rate& rate : progress.rates) {
    if (rate.size < 1 || !(rate.per_second > 0)) {
      continue;
    }
    if (rate.size <= size && (below == nullptr || rate.size > below->size)) {
      below = &rate;
    }
    if (rate.size >= size && (above == nullptr || rate.size < above->size)) {
      above = &rate;
    }
  }
  if (below == nullptr && above == nullptr) {
    return std::pow(n, kExponent);
  }
  const Progress::Rate& near = below != nullptr ? *below : *above;
  double exponent = kExponent;
  if (below != nullptr && above != nullptr && below->size < above->size) {
    exponent = std::log(above->per_second / below->per_second) /
               std::log(static_cast<double>(above->size) / static_cast<double>(below->size));
  }
  return near.per_second * std::pow(n / static_cast<double>(near.size), exponent);
}

const GrowthPolicy& throughput_policy() {
  static const Throughput policy;
  return policy;
}

}  // namespace codeflare::sched
