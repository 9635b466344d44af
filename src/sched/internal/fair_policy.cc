#include "sched/internal/growth_policy.h"

#include <cmath>

namespace codeflare::sched {

namespace {

// Max-min: the queue with the smallest share for its weight grows first, and in it the gang with
// the smallest share. Giving way must leave the receiver below what the giver had.
class Fair final : public GrowthPolicy {
 public:
  Worth worth(const GrowthView& gang, std::int64_t from, std::int64_t to) const override {
    const double more = static_cast<double>(to - from) * gang.unit;
    return {.queue = rounded(-gang.queue_held / gang.queue_weight),
            .own = rounded(-static_cast<double>(to) * gang.unit),
            .step = more / gang.queue_weight,
            .which = gang.queue};
  }
  bool trades(const Worth& gain, const Worth& loss) const override {
    return gain.which == loss.which ? gain.own > loss.own + kMargin
                                    : gain.queue - gain.step > loss.queue + kMargin;
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
