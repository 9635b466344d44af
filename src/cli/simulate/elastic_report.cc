#include "base/human_duration.h"
#include "cli/simulate/elastic_replay.h"
#include "cli/views/table.h"
#include "json/write.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace codeflare::cli::simulate {

namespace {

// Nearest rank.
Duration percentile(const std::vector<Duration>& sorted, double part) {
  if (sorted.empty()) {
    return {};
  }
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double mean_seconds(const std::vector<Duration>& all) {
  double sum = 0;
  for (const Duration each : all) {
    sum += std::chrono::duration<double>(each).count();
  }
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Part of all GPUs from zero to the last end.
double use_of(const ElasticOutcome& outcome, const Cluster& cluster) {
  const auto capacity = capacity_of(cluster);
  const auto gpus = capacity.find(kGpuResource);
  const double seconds = std::chrono::duration<double>(outcome.makespan).count();
  if (gpus == capacity.end() || gpus->second == 0 || seconds <= 0) {
    return 0;
  }
  return outcome.gpu_seconds / (static_cast<double>(gpus->second) * seconds);
}

double resizes_of(const ElasticOutcome& outcome) {
  return outcome.trainings == 0
             ? 0
             : static_cast<double>(outcome.resizes) / static_cast<double>(outcome.trainings);
}

}  // namespace

std::string to_text(const std::vector<ElasticOutcome>& outcomes, const Cluster& cluster) {
  Table table({"POLICY", "JOBS", "FINISHED", "COMPLETION MEAN", "P50", "P99", "WAIT MEAN",
               "MAKESPAN", "GPU", "RESIZES/JOB"});
  for (const ElasticOutcome& each : outcomes) {
    table.add_row({each.policy, std::to_string(each.trainings), std::to_string(each.finished),
                   number(mean_seconds(each.completions), 0) + "s",
                   human_duration(percentile(each.completions, 0.5)),
                   human_duration(percentile(each.completions, 0.99)),
                   number(mean_seconds(each.waits), 0) + "s", human_duration(each.makespan),
                   number(100 * use_of(each, cluster), 1) + "%", number(resizes_of(each), 1)});
  }
  return table.to_text();
}

std::string to_json(const std::vector<ElasticOutcome>& outcomes, const Cluster& cluster) {
  std::string compact;
  json::Writer w(compact);
  w.begin_object().key("policies").begin_array();
  for (const ElasticOutcome& each : outcomes) {
    const auto seconds = [&](std::string_view name, double value) {
      w.key(name).number_text(number(value, 3));
    };
    const auto rank = [&](double part) {
      return std::chrono::duration<double>(percentile(each.completions, part)).count();
    };
    w.begin_object().member("policy", each.policy);
    w.key("jobs").integer(static_cast<std::int64_t>(each.trainings));
    w.key("finished").integer(static_cast<std::int64_t>(each.finished));
    w.key("completionSeconds").begin_object();
    seconds("mean", mean_seconds(each.completions));
    seconds("p50", rank(0.5));
    seconds("p99", rank(0.99));
    w.end_object();
    seconds("waitMeanSeconds", mean_seconds(each.waits));
    seconds("makespanSeconds", std::chrono::duration<double>(each.makespan).count());
    w.key("gpuUtilisation").number_text(number(use_of(each, cluster), 6));
    w.key("resizesPerJob").number_text(number(resizes_of(each), 4));
    w.end_object();
  }
  w.end_array().end_object();
  return compact + "\n";
}

}  // namespace codeflare::cli::simulate
