#include "controllers/trainingjob/remote_status.h"

#include "controllers/trainingjob/names.h"
#include "controllers/trainingjob/training_plan.h"
#include "model/condition.h"
#include "model/managed_cluster.h"
#include "queue/training_work.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::trainingjob {

using model::TrainingJobStatus;

namespace {

std::string worker_of_node(std::string_view node) {
  const std::string_view cluster = model::managed_cluster::cluster_of_node(node);
  return cluster == model::managed_cluster::kLocal ? std::string() : std::string(cluster);
}

void set_condition(TrainingJobStatus& status, const RemoteMoment& moment, std::string_view type,
                   bool holds, std::string message = {}) {
  model::set_condition(status.conditions,
                       {.type = std::string(type),
                        .status = holds ? "True" : "False",
                        .reason = "TrainingJob" + std::string(type),
                        .message = std::move(message),
                        .observed_generation = moment.job.metadata.generation},
                       moment.now);
}

TrainingJobStatus begin(const RemoteMoment& moment) {
  TrainingJobStatus status = moment.job.status;
  status.selector = std::string(kJobLabel) + "=" + moment.job.metadata.name;
  status.observed_generation = moment.job.metadata.generation;
  if (!status.submit_time) {
    status.submit_time = moment.now;
  }
  return status;
}

}  // namespace

std::string remote_cluster(const TrainingJobStatus& status) {
  return !status.plan || status.plan->places.empty()
             ? std::string()
             : worker_of_node(status.plan->places.front().node);
}

std::string remote_cluster(const std::vector<model::PlannedPlace>& places) {
  return places.empty() ? std::string() : worker_of_node(places.front().node);
}

bool is_elsewhere(const std::vector<model::PlannedPlace>& places, const std::string& cluster) {
  return std::ranges::any_of(places, [&](const model::PlannedPlace& place) {
    return worker_of_node(place.node) != cluster;
  });
}

TrainingJobStatus planned_there(const RemoteMoment& moment, const queue::Standing& standing) {
  TrainingJobStatus status = begin(moment);
  const bool is_new = !status.plan;
  status.plan = next_plan(status.plan, standing.plan, {}, false);
  if (!status.plan->since) {
    status.plan->since = model::MicroTime{standing.since.value_or(moment.now)};
  }
  status.current_size = static_cast<std::int64_t>(status.plan->places.size());
  if (is_new) {
    const std::string cluster = remote_cluster(status);
    status.stage = stage::kWaiting;
    status.reason.clear();
    status.message = "sent to cluster " + cluster;
    status.cooldown_time.reset();
    set_condition(status, moment, kDispatched, false, "cluster " + cluster);
  }
  return status;
}

TrainingJobStatus dispatched_there(const RemoteMoment& moment) {
  TrainingJobStatus status = begin(moment);
  set_condition(status, moment, kDispatched, true, "cluster " + remote_cluster(status));
  return status;
}

TrainingJobStatus mirrored(const RemoteMoment& moment, const TrainingJobStatus& copy) {
  TrainingJobStatus status = begin(moment);
  const model::Condition* known = model::find_condition(status.conditions, kDispatched);
  const std::optional<model::Condition> dispatched =
      known == nullptr ? std::nullopt : std::optional(*known);
  status.stage = copy.stage.empty() ? std::string(stage::kWaiting) : copy.stage;
  status.reason = copy.reason;
  status.message = copy.message;
  status.ready_size = copy.ready_size;
  status.progress = copy.progress;
  status.restart_counts = copy.restart_counts;
  status.queued_time = copy.queued_time;
  status.start_time = copy.start_time;
  status.last_exec_time = copy.last_exec_time;
  status.conditions = copy.conditions;
  std::erase_if(status.conditions,
                [](const model::Condition& each) { return each.type == kDispatched; });
  for (model::Condition& each : status.conditions) {
    each.observed_generation = moment.job.metadata.generation;
  }
  if (dispatched) {
    status.conditions.push_back(*dispatched);
  }
  return status;
}

TrainingJobStatus ended_there(const RemoteMoment& moment, const TrainingJobStatus& copy) {
  TrainingJobStatus status = mirrored(moment, copy);
  status.completion_time = copy.completion_time.value_or(model::Time{moment.now});
  status.plan.reset();
  status.current_size = status.ready_size = 0;
  return status;
}

TrainingJobStatus queued_again(const RemoteMoment& moment, const std::string& reason,
                               const std::string& message) {
  TrainingJobStatus status = begin(moment);
  status.plan.reset();
  status.start_time.reset();
  status.not_ready_since.reset();
  status.current_size = status.ready_size = 0;
  status.stage = moment.job.spec.run_policy.suspend ? stage::kSuspended : stage::kWaiting;
  if (!message.empty()) {
    status.reason = reason;
    status.message = message;
  }
  for (const std::string_view type : {std::string_view("Running"), kDispatched}) {
    if (model::find_condition(status.conditions, type) != nullptr) {
      set_condition(status, moment, type, false, message);
    }
  }
  return status;
}

bool is_dispatched(const TrainingJobStatus& status) {
  return model::is_condition_true(status.conditions, kDispatched);
}

bool is_urgent(const TrainingJobStatus& before, const TrainingJobStatus& after) {
  return before.stage != after.stage || before.reason != after.reason ||
         before.conditions != after.conditions || before.plan != after.plan ||
         before.restart_counts != after.restart_counts;
}

}  // namespace codeflare::controllers::trainingjob
