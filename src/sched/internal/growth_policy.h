#pragma once

#include "sched/internal/elastic_table.h"
#include "sched/spec.h"

#include <cstdint>

namespace codeflare::sched {

// One elastic gang as a policy sees it.
struct GrowthView {
  std::int64_t min = 1;
  double unit = 0;      // the largest part of all that the cluster has which one pod takes
  double attained = 0;  // pod-seconds that it has had
  Time submitted{};
  Duration running{};     // since its start
  double queue_held = 0;  // what the elastic gangs of its queue hold, in such parts
  double queue_weight = 1;
  Index queue = 0;
  const Progress* progress = nullptr;
};

// Which growth is worth most. Stateless: the same view gives the same answer.
class GrowthPolicy {
 public:
  GrowthPolicy() = default;
  GrowthPolicy(const GrowthPolicy&) = delete;
  GrowthPolicy& operator=(const GrowthPolicy&) = delete;
  virtual ~GrowthPolicy() = default;

  // Of growing from one size to a larger one, for each unit that it takes; also what is lost with
  // the way back. Compared between gangs of equal priority.
  virtual Worth worth(const GrowthView& gang, std::int64_t from, std::int64_t to) const = 0;
  // Growth that is worth `loss` to its holder goes to one to whom it is worth `gain`.
  virtual bool trades(const Worth& gain, const Worth& loss) const = 0;
  // Whether the larger size wins back a resize that costs this much time.
  virtual bool pays(const GrowthView& gang, std::int64_t from, std::int64_t to,
                    Duration cost) const = 0;
};

const GrowthPolicy& growth_policy(ElasticPolicy which);
const GrowthPolicy& throughput_policy();
const GrowthPolicy& fair_policy();
const GrowthPolicy& strict_priority_policy();

// The speed at a size, relative to others of the same gang: measured, between two measured sizes
// by their power law, beyond them by n^0.8 from the nearest.
double speed_at(const Progress& progress, std::int64_t size);

}  // namespace codeflare::sched
