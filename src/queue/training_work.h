#pragma once

#include "base/result.h"
#include "model/meta.h"
#include "model/training_job.h"
#include "queue/work.h"
#include "sched/spec.h"

#include <string>
#include <string_view>
#include <vector>

// TrainingJobs as the queue sees them: checked, and as one gang of several sizes. Pure.
namespace codeflare::queue {

// The unit of TrainingJobs and the nodes that they may use, as the operator is configured.
struct TrainingOptions {
  // "": what pods request; "node": one pod of any TrainingJob has a node for itself; else a
  // resource that every TrainingJob has to request.
  std::string unit{};
  // Labels of the nodes that TrainingJobs may use; a pod template that names the key wins.
  model::StringMap node_selector{};
  friend bool operator==(const TrainingOptions&, const TrainingOptions&) = default;
};

// The resource behind the unit "node": each node that TrainingJobs may use has one.
inline constexpr std::string_view kNodeUnitResource = "codeflare.dev/node";
inline constexpr std::string_view kNodeUnit = "node";
// On pods that are counted with the unit "node".
inline constexpr std::string_view kUnitLabel = "breezeml.ai/unit";
inline constexpr std::string_view kTrainingContainer = "trainingjob";

// Bounds with their defaults; desiredSize (and the scale subresource) lowers the maximum, never
// below the minimum.
sched::Sizes sizes_of(const model::TrainingJobSpec& spec);
// Without the ceiling.
sched::Sizes bounds_of(const model::TrainingJobSpec& spec);

// Whose share its growth counts to.
std::string queue_of(const model::TrainingJobSpec& spec);

// The nodes that TrainingJobs may use, and their unit.
void add_options(const TrainingOptions& options, sched::PodSet& pods);

// The UID of the AppWrapper that it is an item of; empty: it waits in the queue by itself.
std::string wrapper_of(const model::TrainingJob& job);

// Whether one of the items is this TrainingJob, by kind and name.
bool wraps(const Demand& demand, const model::TrainingJob& job);

// All that is wrong with it, each as "field: problem with numbers; fix"; empty when nothing is.
std::vector<std::string> problems_of(const model::TrainingJob& job, const TrainingOptions& options);

// Refers to the job and the options.
Work work_of(const model::TrainingJob& job, const TrainingOptions& options, WallTime now);

// The places of a plan by node, in order, as the queue has them.
std::vector<model::PlannedPlace> planned_places(const model::TrainingPlan& plan);

// Neither finished nor another controller's.
bool is_ours(const model::TrainingJob& job);
bool is_finished(const model::TrainingJobStatus& status);

inline constexpr std::string_view kTrainingManager = "codeflare.dev/trainingjob-controller";

}  // namespace codeflare::queue
