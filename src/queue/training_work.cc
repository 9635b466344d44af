#include "queue/training_work.h"

#include "model/pod_requests.h"
#include "queue/internal/pod_constraints.h"
#include "queue/internal/pod_neighbours.h"
#include "queue/internal/pod_shape.h"
#include "queue/kinds/problems.h"
#include "queue/quota_scope.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace codeflare::queue {

namespace {

constexpr std::int64_t kCooldownMax = std::int64_t{1} << 31;  // seconds
constexpr std::string_view kSpecPath = "spec.replicaSpecs.template.spec.";

bool asks_for_compute(const sched::Resources& charge) {
  return std::ranges::any_of(charge, [](const sched::Resource& each) {
    return each.amount > 0 && (each.name == "cpu" || each.name == "memory" ||
                               each.name == "limits.cpu" || each.name == "limits.memory");
  });
}

void add_selector(const TrainingOptions& options, sched::PodSet& pods) {
  for (const auto& [key, value] : options.node_selector) {
    const auto own =
        std::ranges::find(pods.selector, key, &std::pair<std::string, std::string>::first);
    if (own == pods.selector.end()) {
      pods.selector.emplace_back(key, value);
    }
  }
}

Result<Demand> demand_of(const model::TrainingJob& job, const TrainingOptions& options) {
  if (const std::vector<std::string> problems = problems_of(job, options); !problems.empty()) {
    return fail(invalid_argument(problems.front()));
  }
  const model::PodTemplateSpec& from = job.spec.replica_specs.pod_template;
  const model::ResourceList requests = model::pod_requests(from.spec);
  PodSetDemand set;
  set.pods.sizes = sizes_of(job.spec);
  set.pods.count = set.pods.sizes->min;
  set.in_template = set.pods.count;
  set.template_path = "/spec/replicaSpecs/template";
  TRY_ASSIGN(set.pods.requests, reserved_by_pod(requests));
  TRY_ASSIGN(set.pods.charge, charged_by_pod(requests, model::pod_limits(from.spec)));
  set.traits = traits_of(from.spec);
  set.traits.best_effort = !asks_for_compute(*set.pods.charge);
  if (Result<void> added = add_constraints(from.spec, set.pods); !added) {
    return fail(invalid_argument(std::string(kSpecPath) + added.error().message));
  }
  add_options(options, set.pods);
  Demand demand;
  demand.items.push_back(
      {.key = job.metadata.key(),
       .api_version = std::string(model::ResourceTraits<model::TrainingJob>::api_version),
       .kind = std::string(model::ResourceTraits<model::TrainingJob>::kind)});
  demand.pod_sets.push_back(std::move(set));
  Problems problems;  // problems_of() has reported them
  demand.clusters = cluster_rule_of(job.metadata, problems);
  demand.unheeded = keep_apart(
      {neighbours_of(from.spec, from.metadata.labels, job.metadata.ns, std::string(kSpecPath))},
      demand.pod_sets);
  return demand;
}

sched::Sizes sizes_up_to(const model::TrainingJobSpec& spec, std::optional<std::int64_t> desired) {
  sched::Sizes sizes;
  sizes.min = spec.min_size.value_or(spec.sizes.empty() ? 1 : spec.sizes.front());
  sizes.max = spec.max_size.value_or(spec.sizes.empty() ? sizes.min : spec.sizes.back());
  if (spec.elastic.scale_up_cooldown_seconds) {
    sizes.cooldown = std::chrono::seconds(
        std::clamp<std::int64_t>(*spec.elastic.scale_up_cooldown_seconds, 0, kCooldownMax));
  }
  const std::int64_t ceiling =
      std::max(sizes.min, std::min(sizes.max, desired.value_or(sizes.max)));
  if (spec.sizes.empty()) {
    sizes.step = std::max<std::int64_t>(1, spec.size_step.value_or(1));
    sizes.max = sizes.min + (ceiling - sizes.min) / sizes.step * sizes.step;
    return sizes;
  }
  for (const std::int64_t size : spec.sizes) {
    if (size >= sizes.min && size <= ceiling) {
      sizes.list.push_back(size);
    }
  }
  sizes.max = sizes.list.empty() ? sizes.min : sizes.list.back();
  return sizes;
}

}  // namespace

std::string queue_of(const model::TrainingJobSpec& spec) {
  return spec.queue.empty() ? "default" : spec.queue;
}

void add_options(const TrainingOptions& options, sched::PodSet& pods) {
  if (options.unit == kNodeUnit) {
    pods.requests.push_back({std::string(kNodeUnitResource), 1});
  }
  add_selector(options, pods);
}

std::string wrapper_of(const model::TrainingJob& job) {
  const model::OwnerReference* owner = model::controller_of(job.metadata);
  const bool wrapped =
      owner != nullptr && owner->kind == model::ResourceTraits<model::AppWrapper>::kind &&
      (owner->api_version == model::api_version_of(model::WrapperApi::mcad_v1beta1) ||
       owner->api_version == model::api_version_of(model::WrapperApi::workload_v1beta1));
  return wrapped ? owner->uid : std::string();
}

bool wraps(const Demand& demand, const model::TrainingJob& job) {
  using Traits = model::ResourceTraits<model::TrainingJob>;
  return std::ranges::any_of(demand.items, [&](const ItemInfo& item) {
    return item.api_version == Traits::api_version && item.kind == Traits::kind &&
           item.key.name == job.metadata.name && item.key.ns == job.metadata.ns;
  });
}

bool is_finished(const model::TrainingJobStatus& status) {
  return status.stage == "Completed";
}

bool is_ours(const model::TrainingJob& job) {
  const std::string& manager = job.spec.run_policy.managed_by;
  return manager.empty() || manager == kTrainingManager;
}

sched::Sizes sizes_of(const model::TrainingJobSpec& spec) {
  return sizes_up_to(spec, spec.desired_size);
}

sched::Sizes bounds_of(const model::TrainingJobSpec& spec) {
  return sizes_up_to(spec, std::nullopt);
}
std::vector<model::PlannedPlace> planned_places(const model::TrainingPlan& plan) {
  std::map<std::string, std::int64_t> by_node;
  for (const model::TrainingPlace& place : plan.places) {
    ++by_node[place.node];
  }
  std::vector<model::PlannedPlace> places;
  for (const auto& [node, count] : by_node) {
    places.push_back({.pod_set = 0, .node = node, .count = count});
  }
  return places;
}

Work work_of(const model::TrainingJob& job, const TrainingOptions& options, WallTime now) {
  const model::TrainingJobStatus& status = job.status;
  Work work{
      .id = {.uid = job.metadata.uid, .key = job.metadata.key(), .kind = WorkKind::training_job},
      .priority = job.spec.priority,
      .submitted = job.metadata.creation_timestamp.value_or(now),
      .quota = designations(job.metadata.labels),
      .suspended = job.spec.run_policy.suspend,
      .deleting = job.metadata.deleting(),
      .finished = is_finished(status) || !is_ours(job),
      .queue = queue_of(job.spec)};
  work.sizes = sizes_of(job.spec);
  if (status.plan) {
    work.plan = planned_places(*status.plan);
  }
  if (status.plan && status.plan->since) {
    work.since = status.plan->since->time;
  }
  work.goes_on = !work.finished && !work.deleting;
  if (status.cooldown_time && !status.plan) {
    work.not_before = *status.cooldown_time;
  }
  work.demand = [&job, &options] { return demand_of(job, options); };
  return work;
}

}  // namespace codeflare::queue
