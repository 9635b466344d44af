#include "controllers/trainingjob/training_metrics.h"

#include "model/condition.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

std::string framework_of(const model::TrainingJob& job) {
  return job.spec.framework.empty() ? "pytorch" : job.spec.framework;
}

bool has_condition(const model::TrainingJobStatus& status, std::string_view type) {
  return std::ranges::any_of(status.conditions, [&](const model::Condition& condition) {
    return condition.type == type && condition.status == "True";
  });
}

std::int64_t restarts(const model::TrainingJobStatus& status) {
  return status.restart_counts.user + status.restart_counts.infra;
}

}  // namespace

TrainingMetrics::TrainingMetrics(MetricsRegistry& registry)
    : created_(registry.counters("training_operator_jobs_created_total",
                                 "TrainingJobs that the controller saw for the first time.",
                                 {"job_namespace", "framework"})),
      deleted_(registry.counters("training_operator_jobs_deleted_total",
                                 "TrainingJobs that were deleted.",
                                 {"job_namespace", "framework"})),
      successful_(registry.counters("training_operator_jobs_successful_total",
                                    "TrainingJobs that succeeded.",
                                    {"job_namespace", "framework"})),
      failed_(registry.counters("training_operator_jobs_failed_total", "TrainingJobs that failed.",
                                {"job_namespace", "framework"})),
      restarted_(registry.counters("training_operator_jobs_restarted_total",
                                   "Workers that failed or were lost, and were started again.",
                                   {"job_namespace", "framework"})),
      live_pods_(registry.gauges("training_operator_live_pods_total",
                                 "Workers of a TrainingJob that have not ended.",
                                 {"job_namespace", "job_id"})),
      running_pods_(registry.gauges("training_operator_running_pods_total",
                                    "Workers of a TrainingJob that run.",
                                    {"job_namespace", "job_id"})),
      active_size_(registry.gauge("training_operator_active_size",
                                  "Workers that the plans of all TrainingJobs have.")),
      cluster_size_(registry.gauge("training_operator_cluster_size",
                                   "Units of ready nodes that TrainingJobs may use.")) {}

void TrainingMetrics::seen(const model::TrainingJob& job, const std::vector<WorkerPod>& pods) {
  Known& known = known_[job.metadata.key()];
  if (known.uid != job.metadata.uid) {
    live_pods_.remove({job.metadata.ns, known.uid});
    running_pods_.remove({job.metadata.ns, known.uid});
    known.uid = job.metadata.uid;
  }
  known.framework = framework_of(job);
  active_size_.add(static_cast<double>(job.status.current_size - known.size));
  known.size = job.status.current_size;
  const auto live = std::ranges::count_if(pods, [](const WorkerPod& pod) { return !pod.over(); });
  const auto running =
      std::ranges::count_if(pods, [](const WorkerPod& pod) { return pod.phase == Phase::running; });
  live_pods_.with({job.metadata.ns, known.uid}).set(static_cast<double>(live));
  running_pods_.with({job.metadata.ns, known.uid}).set(static_cast<double>(running));
}

void TrainingMetrics::written(const model::TrainingJob& job,
                              const model::TrainingJobStatus& after) {
  const model::TrainingJobStatus& before = job.status;
  const std::string framework = framework_of(job);
  const auto add = [&](MetricFamily<Counter>& family, std::int64_t count) {
    if (count > 0) {
      family.with({job.metadata.ns, framework}).add(static_cast<double>(count));
    }
  };
  add(created_, !before.submit_time && after.submit_time ? 1 : 0);
  add(restarted_, restarts(after) - restarts(before));
  add(successful_,
      has_condition(after, "Succeeded") && !has_condition(before, "Succeeded") ? 1 : 0);
  add(failed_, has_condition(after, "Failed") && !has_condition(before, "Failed") ? 1 : 0);
}

void TrainingMetrics::gone(const model::ObjectKey& job) {
  const auto at = known_.find(job);
  if (at == known_.end()) {
    return;
  }
  const Known known = std::move(at->second);
  known_.erase(at);
  deleted_.with({job.ns, known.framework}).add();
  live_pods_.remove({job.ns, known.uid});
  running_pods_.remove({job.ns, known.uid});
  active_size_.subtract(static_cast<double>(known.size));
}

void TrainingMetrics::node(const std::string& name, double units) {
  double& known = units_[name];
  cluster_size_.add(units - known);
  known = units;
  if (units == 0) {
    units_.erase(name);
  }
}

double units_of(const model::Node& node, const queue::TrainingOptions& options) {
  const auto ready = std::ranges::find(node.status.conditions, "Ready", &model::Condition::type);
  const bool usable =
      ready != node.status.conditions.end() && ready->status == "True" &&
      !node.spec.unschedulable &&
      std::ranges::all_of(options.node_selector, [&](const auto& label) {
        return model::find_or_empty(node.metadata.labels, label.first) == label.second;
      });
  if (!usable) {
    return 0;
  }
  if (options.unit.empty() || options.unit == queue::kNodeUnit) {
    return 1;
  }
  const model::Quantity* amount = node.status.allocatable.find(options.unit);
  return amount == nullptr ? 0 : static_cast<double>(amount->exact_value().value_or(0));
}

}  // namespace codeflare::controllers::trainingjob
