#pragma once

#include "base/metrics.h"
#include "controllers/trainingjob/training_pods.h"
#include "model/gvk.h"
#include "model/node.h"
#include "model/training_job.h"
#include "queue/training_work.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace codeflare::controllers::trainingjob {

// Numbers about TrainingJobs under the names of the original operator. Labels: namespace and
// framework, or namespace and UID of a job.
class TrainingMetrics {
 public:
  explicit TrainingMetrics(MetricsRegistry& registry);

  void seen(const model::TrainingJob& job, const std::vector<WorkerPod>& pods);
  // The status of the job was written.
  void written(const model::TrainingJob& job, const model::TrainingJobStatus& after);
  void gone(const model::ObjectKey& job);
  // Units of TrainingJobs on the node (see units_of); 0: it is gone.
  void node(const std::string& name, double units);

 private:
  struct Known {
    std::string uid;
    std::string framework;
    std::int64_t size = 0;
  };

  MetricFamily<Counter>& created_;
  MetricFamily<Counter>& deleted_;
  MetricFamily<Counter>& successful_;
  MetricFamily<Counter>& failed_;
  MetricFamily<Counter>& restarted_;
  MetricFamily<Gauge>& live_pods_;
  MetricFamily<Gauge>& running_pods_;
  Gauge& active_size_;
  Gauge& cluster_size_;
  std::map<model::ObjectKey, Known> known_;
  std::map<std::string, double, std::less<>> units_;
};

// Nodes, or the amount of the resource that TrainingJobs are counted in; 0 on nodes that they may
// not use or that are not ready.
double units_of(const model::Node& node, const queue::TrainingOptions& options);

}  // namespace codeflare::controllers::trainingjob
