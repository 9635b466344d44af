#pragma once

#include "model/training_job.h"
#include "sched/spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace codeflare::queue {

// The speed of one TrainingJob at the sizes that it had, and its remaining work, as its status
// reports them. Pure.
class MeasuredRates {
 public:
  // Counts the rate of the whole group, if all of its workers train and it has settled. Returns
  // whether progress() is worth telling.
  bool note(const model::TrainingJobStatus& status);
  // Its group is gone. Rates stay.
  void group_ended();
  // `size_min`: its smallest size, which the remaining work is counted at.
  sched::Progress progress(std::int64_t size_min) const;

 private:
  struct Rate {
    std::int64_t size = 0;
    double average = 0;
    double told = 0;
  };
  bool settled(const model::TrainingJobStatus& status);
  bool count(std::int64_t size, double per_second);
  bool count_remaining(const std::optional<std::int64_t>& samples);

  std::int64_t generation_ = 0;      // of the membership last seen
  std::int64_t step_ = 0;            // last seen in it
  int reports_ = 0;                  // of other steps in it
  std::vector<Rate> rates_;          // by size
  std::optional<double> remaining_;  // samples, as told
};

}  // namespace codeflare::queue
