#include "sdk/gang_state.h"

#include "json/parse.h"
#include "queue/demand.h"
#include "queue/pod_trouble.h"
#include "queue/status_words.h"
#include "sdk/device_names.h"
#include "sdk/gang_job.h"
#include "sdk/internal/work_state.h"
#include "sdk/job_marks.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace codeflare::sdk {

namespace {

using model::AppWrapper;
using model::AppWrapperCondition;
using model::Pod;

constexpr std::string_view kIndexKey = "batch.kubernetes.io/job-completion-index";

void because(JobInfo& job, const AppWrapperCondition* condition) {
  if (condition != nullptr) {
    job.reason = condition->reason;
    job.message = condition->message;
  }
}

const model::ContainerStateTerminated* ended(const Pod& pod) {
  const model::ContainerStatus* status = main_status(pod);
  return status != nullptr && status->state.terminated ? &*status->state.terminated : nullptr;
}

std::optional<WallTime> start_of(const Pod& pod) {
  const model::ContainerStatus* status = main_status(pod);
  if (status == nullptr) {
    return std::nullopt;
  }
  return status->state.running      ? status->state.running->started_at
         : status->state.terminated ? status->state.terminated->started_at
                                    : std::nullopt;
}

// The first that failed: others may have died because of it.
const Pod* first_failed(const std::vector<Pod>& pods) {
  const Pod* first = nullptr;
  for (const Pod& pod : pods) {
    const model::ContainerStateTerminated* end = ended(pod);
    if (end == nullptr || end->exit_code == 0) {
      continue;
    }
    const model::ContainerStateTerminated* before = first == nullptr ? nullptr : ended(*first);
    if (before == nullptr ||
        (end->finished_at && before->finished_at && *end->finished_at < *before->finished_at)) {
      first = &pod;
    }
  }
  return first;
}

// ", limit 64Mi"
std::string memory_limit_text(const Pod& pod, const std::string& container) {
  const auto found = std::ranges::find(pod.spec.containers, container, &model::Container::name);
  const model::Quantity* limit =
      found == pod.spec.containers.end() ? nullptr : found->resources.limits.find("memory");
  return limit == nullptr ? "" : ", limit " + limit->to_string();
}

// "replica 1: exit code 3"
std::string failure_text(const JobInfo& job, const Pod& pod) {
  const model::ContainerStatus& status = *main_status(pod);
  std::string words = internal::last_words(status);
  if (words.starts_with(", ")) {
    words.erase(0, 2);
  }
  if (status.state.terminated->reason == "OOMKilled") {
    words += memory_limit_text(pod, status.name);
  }
  const std::optional<std::int64_t> replica = replica_of(pod);
  return job.replicas > 1 && replica ? "replica " + std::to_string(*replica) + ": " + words : words;
}

void add_times(JobInfo& job, const AppWrapper& wrapper, const std::vector<Pod>& pods) {
  for (const Pod& pod : pods) {
    if (const std::optional<WallTime> start = start_of(pod);
        start && (!job.started || *start < *job.started)) {
      job.started = start;
    }
  }
  if (!job.started && wrapper.status.plan && wrapper.status.plan->started) {
    job.started = wrapper.status.plan->started->time;
  }
  if (!has_ended(job.phase)) {
    return;
  }
  for (const Pod& pod : pods) {
    if (const model::ContainerStateTerminated* end = ended(pod);
        end != nullptr && end->finished_at && (!job.ended || *end->finished_at > *job.ended)) {
      job.ended = end->finished_at;
    }
  }
  if (!job.ended && wrapper.status.finished) {
    job.ended = wrapper.status.finished->time;
  }
}

std::int64_t attempts_of(const std::vector<Pod>& pods) {
  std::map<std::int64_t, std::int64_t> by_replica;
  for (const Pod& pod : pods) {
    if (start_of(pod)) {
      ++by_replica[replica_of(pod).value_or(0)];
    }
  }
  std::int64_t most = 1;
  for (const auto& [replica, count] : by_replica) {
    most = std::max(most, count);
  }
  return most;
}

// Number of pods of the wrapped Job.
std::int64_t replicas_of(const AppWrapper& wrapper) {
  for (const model::GenericItem& item : wrapper.spec.resources.generic_items) {
    const Result<json::Document> document = json::parse(item.generic_template.text);
    if (document && document->root.string_or_empty("kind") == "Job") {
      const json::Value* count = document->root.get({"spec", "completions"});
      return count == nullptr ? 1 : count->to_int64().value_or(1);
    }
  }
  return 1;
}

// The requests of all pods together.
JobSizes sizes_of(const AppWrapper& wrapper) {
  const Result<queue::Demand> demand = queue::demand_of(wrapper);
  if (!demand) {
    return {};
  }
  sched::Amount cpu = 0;
  sched::Amount memory = 0;
  sched::Amount gpus = 0;
  for (const queue::PodSetDemand& set : demand->pod_sets) {
    for (const sched::Resource& each : set.pods.requests) {
      sched::Amount* const sum = each.name == "cpu"                      ? &cpu
                                 : each.name == "memory"                 ? &memory
                                 : ray_name_of(each.name, {}) == kRayGpu ? &gpus
                                                                         : nullptr;
      if (sum != nullptr) {
        *sum += each.amount * set.pods.count;
      }
    }
  }
  return {.cpus = model::Quantity::milli(cpu),
          .memory = model::Quantity(memory),
          .gpus = model::Quantity(gpus)};
}

void read_failed(JobInfo& job, const AppWrapper& wrapper, const std::vector<Pod>& pods) {
  job.phase = JobPhase::failed;
  because(job, internal::newest(wrapper, "Failed"));
  if (job.message.empty()) {
    job.message = wrapper.status.message;
  }
  const Pod* pod = first_failed(pods);
  if (pod != nullptr) {
    job.exit_code = ended(*pod)->exit_code;
  }
  // The end that a time limit brings is not the program's own.
  if (job.reason == queue::word(queue::Reason::dispatch_deadline_exceeded)) {
    job.message = "reached its time limit: " + job.message;
  } else if (pod != nullptr) {
    const std::string& reason = ended(*pod)->reason;
    job.reason = reason.empty() || reason == "Error" ? "ExitCode" : reason;
    job.message = failure_text(job, *pod);
  }
}

void read_started(JobInfo& job, const std::vector<Pod>& pods) {
  const auto runs = [](const Pod& pod) {
    const model::ContainerStatus* status = main_status(pod);
    return status != nullptr && (status->state.running || status->state.terminated);
  };
  const std::int64_t count = std::ranges::count_if(pods, runs);
  job.phase = count > 0 ? JobPhase::running : JobPhase::pending;
  if (const std::optional<queue::PodTrouble> trouble = queue::worst_trouble(pods)) {
    job.reason = trouble->reason;
    job.message = trouble->text();
  } else if (count < job.replicas) {
    job.message = std::to_string(count) + " of " + std::to_string(job.replicas) + " pods started";
  }
}

void read_waiting(JobInfo& job, const AppWrapper& wrapper) {
  job.phase = JobPhase::queued;
  if (!wrapper.spec.suspend.value_or(false)) {
    const AppWrapperCondition* queued = internal::newest(wrapper, "Queued");
    // Released a moment ago: the controller has reported nothing since.
    if (queued == nullptr || !queue::has_reason(*queued, queue::Reason::held)) {
      because(job, queued != nullptr ? queued : internal::newest(wrapper, "Backoff"));
    }
    return;
  }
  const auto& notes = wrapper.metadata.annotations;
  if (notes.contains(kStoppedAnnotation)) {
    job.phase = JobPhase::stopped;
    job.reason = "Cancelled";
    if (const Result<WallTime> when =
            parse_rfc3339(model::find_or_empty(notes, kStoppedAnnotation))) {
      job.ended = *when;
    }
  } else if (notes.contains(kSubmittingAnnotation)) {
    job.reason = "Submitting";
    job.message = "its code is not complete; if the client was interrupted, run the same command";
  } else {
    job.reason = queue::word(queue::Reason::held);
    job.message = "suspended until 'codeflare release aw " + wrapper.metadata.name + "'";
  }
}

}  // namespace

std::optional<std::int64_t> replica_of(const Pod& pod) {
  for (const model::StringMap* map : {&pod.metadata.annotations, &pod.metadata.labels}) {
    if (const std::string_view text = model::find_or_empty(*map, kIndexKey); !text.empty()) {
      return std::strtoll(std::string(text).c_str(), nullptr, 10);
    }
  }
  return std::nullopt;
}

const model::ContainerStatus* main_status(const Pod& pod) {
  const auto& all = pod.status.container_statuses;
  const auto found = std::ranges::find(all, kGangContainer, &model::ContainerStatus::name);
  return found != all.end() ? &*found : nullptr;
}

std::optional<JobBackend> backend_of(const AppWrapper& wrapper) {
  if (model::find_or_empty(wrapper.metadata.labels, kJobLabel).empty()) {
    return std::nullopt;
  }
  return parse_backend(model::find_or_empty(wrapper.metadata.labels, kBackendLabel));
}

JobInfo gang_info(const AppWrapper& wrapper, const std::vector<Pod>& pods) {
  const model::AppWrapperStatus& status = wrapper.status;
  JobInfo job{.name = std::string(model::find_or_empty(wrapper.metadata.labels, kJobLabel)),
              .cluster = {wrapper.metadata.ns, ""},
              .backend = JobBackend::kubernetes,
              .command = std::string(
                  model::find_or_empty(wrapper.metadata.annotations, kCommandAnnotation)),
              .replicas = replicas_of(wrapper),
              .attempts = attempts_of(pods),
              .sizes = sizes_of(wrapper)};
  if (status.state == model::app_wrapper_state::kCompleted) {
    job.phase = JobPhase::succeeded;
    job.exit_code = 0;
  } else if (status.state == model::app_wrapper_state::kFailed ||
             status.state == model::app_wrapper_state::kDeleted) {
    read_failed(job, wrapper, pods);
  } else if (wrapper.metadata.deleting()) {
    job.phase = JobPhase::stopped;
    job.reason = "Deleting";
  } else if (status.plan || status.can_run) {
    read_started(job, pods);
    if (wrapper.spec.suspend.value_or(false)) {
      job.reason = "Stopping";
      job.message = "waits for its pods to end";
    } else if (!status.can_run) {  // withdrawn from the cluster, to wait again
      job.phase = JobPhase::queued;
      because(job, internal::newest(wrapper, "PreemptCandidate"));
    }
  } else {
    read_waiting(job, wrapper);
  }
  add_times(job, wrapper, pods);
  return job;
}

}  // namespace codeflare::sdk
