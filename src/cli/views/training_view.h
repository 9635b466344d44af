#pragma once

#include "base/time.h"
#include "model/training_job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// TrainingJobs as text; pure.
namespace codeflare::cli {

std::string render_training_jobs(const std::vector<model::TrainingJob>& jobs, bool all_namespaces,
                                 WallTime now);
std::string render_training_status(const model::TrainingJob& job, WallTime now);

// "Running, 2 of 1..3 pods: 2 of 2 pods ready"; for progress and results.
std::string training_line(const model::TrainingJob& job);
// It has ended and did not succeed.
bool has_failed(const model::TrainingJob& job);

// The bounds of a TrainingJob as its spec has them, with the defaults of absent ones.
struct TrainingBounds {
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::optional<std::int64_t> ceiling{};  // desiredSize
  friend bool operator==(const TrainingBounds&, const TrainingBounds&) = default;
};
TrainingBounds bounds_of(const model::TrainingJobSpec& spec);
// "min 1 -> 2, max 3, size none -> 2"
std::string change_text(const TrainingBounds& before, const TrainingBounds& after);

}  // namespace codeflare::cli
