#include "sched/internal/growth_policy.h"

#include <cmath>

namespace codeflare::sched {

namespace {

// Max-min: the queue with the smallest share for its weight grows first, and in it the gang with
// the smallest share. Giving way must leave the receiver below what the giver had, and the giver
// above what the receiver had: steps may differ, and two of them would take turns.
class Fair final : public GrowthPolicy {
 public:
  Worth worth(const GrowthView& gang, std::int64_t from, std::int64_t to) const override {
    const double more = static_cast<double>(to - from) * gang.unit;
    return {.queue = rounded(-gang.queue_held / gang.queue_weight),
            .own = rounded(-static_cast<double>(to) * gang.unit / gang.queue_weight),
            .step = more / gang.queue_weight,
            .which = gang.queue};
  }
  bool trades(const Worth& gain, const Worth& loss) const override {
    const bool same = gain.which == loss.which;
    const double receiver_before = same ? gain.own + gain.step : gain.queue;
    const double receiver_after = receiver_before - gain.step;
    const double giver_before = same ? loss.own : loss.queue;
    const double giver_after = giver_before + loss.step;
    // Shares are negative here: more is less.
    return receiver_after > giver_before + kMargin && receiver_before > giver_after + kMargin;
  }
  bool pays(const GrowthView&, std::int64_t, std::int64_t, Duration) const override { return true; }

 private:
  // Equal shares must be equal whatever sums they come from.
  static double rounded(double share) { return std::round(share * 1e12) / 1e12; }
  // Shares are sums of fractions: less than this is rounding.
  static constexpr double kMargin = 1e-9;
};

}  // namespace

const GrowthPolicy& fair_policy() {
  static const Fair policy;
  return policy;
}

}  // namespace codeflare::sched
