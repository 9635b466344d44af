#include "sched/internal/growth_policy.h"

#include <chrono>

namespace codeflare::sched {

namespace {

// The oldest gang grows to its maximum before the next one does. Nobody of equal priority gives way
// once it has grown.
class StrictPriority final : public GrowthPolicy {
 public:
  Worth worth(const GrowthView& gang, std::int64_t, std::int64_t) const override {
    return {.own = -std::chrono::duration<double>(gang.submitted.time_since_epoch()).count()};
  }
  bool trades(const Worth&, const Worth&) const override { return false; }
  bool pays(const GrowthView&, std::int64_t, std::int64_t, Duration) const override { return true; }
};

}  // namespace

const GrowthPolicy& strict_priority_policy() {
  static const StrictPriority policy;
  return policy;
}

const GrowthPolicy& growth_policy(ElasticPolicy which) {
  switch (which) {
    case ElasticPolicy::throughput:
      return throughput_policy();
    case ElasticPolicy::fair:
      return fair_policy();
    case ElasticPolicy::strict_priority:
      return strict_priority_policy();
  }
  return throughput_policy();
}

}  // namespace codeflare::sched
