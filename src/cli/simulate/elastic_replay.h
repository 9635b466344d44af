#pragma once

#include "base/result.h"
#include "base/time.h"
#include "cli/simulate/cluster.h"
#include "cli/simulate/elastic_trace.h"
#include "sched/spec.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli::simulate {

struct ElasticPlay {
  std::string policy;
  // Nothing: the exact rule of the system that TrainingJobs come from, without the core.
  std::optional<sched::ElasticPolicy> rule;
  // Between decisions; zero: at every event.
  Duration interval{};
  // Without progress after each change of the size, and after the start.
  Duration resize{};
  Duration cooldown{};
  // Trainings tell how much is left of them.
  bool known_work = false;
  // Sizes from one pod up to what the owner asked for, instead of as far as was measured.
  bool up_to_requested = false;
};

// "throughput", "fair", "strict-priority" and "original", separated by commas.
Result<std::vector<ElasticPlay>> parse_elastic_policies(std::string_view text,
                                                        const ElasticPlay& common);

struct ElasticOutcome {
  std::string policy;
  std::size_t trainings = 0;
  std::size_t finished = 0;
  // End less submission; in order of size.
  std::vector<Duration> completions{};
  // First start less submission.
  std::vector<Duration> waits{};
  std::size_t resizes = 0;  // starts not counted
  Duration makespan{};
  double gpu_seconds = 0;  // that trainings held
};

// Runs the trainings on a virtual clock; the same input gives the same outcome.
ElasticOutcome replay_elastic(const std::vector<Training>& trainings, const Cluster& cluster,
                              const ElasticPlay& play);

std::string to_text(const std::vector<ElasticOutcome>& outcomes, const Cluster& cluster);
std::string to_json(const std::vector<ElasticOutcome>& outcomes, const Cluster& cluster);

}  // namespace codeflare::cli::simulate
