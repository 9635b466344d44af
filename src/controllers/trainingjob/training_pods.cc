#include "controllers/trainingjob/training_pods.h"

#include "controllers/trainingjob/names.h"
#include "model/codec/pod.h"
#include "queue/training_work.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

std::int64_t index_of(std::string_view text) {
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() && index >= 0 ? index : -1;
}

void read_container(const model::ContainerStatus& container, WorkerPod& worker) {
  if (container.state.waiting && worker.reason.empty()) {
    worker.reason = container.state.waiting->reason;
    worker.message = container.state.waiting->message;
  }
  if (container.name != queue::kTrainingContainer) {
    return;
  }
  if (const auto& ended = container.state.terminated) {
    worker.exit_code = ended->exit_code;
    worker.message = ended->message;
    if (worker.reason.empty()) {
      worker.reason = ended->reason;
    }
  }
}

const model::OwnerReference* job_of(const model::Pod& pod) {
  using Traits = model::ResourceTraits<model::TrainingJob>;
  for (const model::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller.value_or(false) && owner.kind == Traits::kind &&
        owner.api_version == Traits::api_version) {
      return &owner;
    }
  }
  return nullptr;
}

using Pods = runtime::Index<model::ObjectKey, WorkerPod>;

std::optional<Pods::Entry> read(const runtime::ObjectChange& change, const WorkerPod* /*before*/) {
  const Result<model::Pod>& pod = change.as<model::Pod>();
  const model::OwnerReference* owner = pod ? job_of(*pod) : nullptr;
  if (owner == nullptr) {
    return std::nullopt;
  }
  return Pods::Entry{{pod->metadata.ns, owner->name}, worker_of(*pod)};
}

}  // namespace

WorkerPod worker_of(const model::Pod& pod) {
  const model::PodFacts facts = model::facts_of(pod);
  const model::OwnerReference* owner = job_of(pod);
  WorkerPod worker{.name = pod.metadata.name,
                   .uid = pod.metadata.uid,
                   .owner_uid = owner == nullptr ? std::string() : owner->uid,
                   .index = index_of(model::find_or_empty(pod.metadata.labels, kIndexLabel)),
                   .node = pod.spec.node_name,
                   .phase = facts.phase,
                   .deleting = facts.deleting,
                   .ready = facts.ready,
                   .created = facts.created};
  worker.reason = pod.status.reason;
  for (const model::ContainerStatus& container : pod.status.init_container_statuses) {
    read_container(container, worker);
  }
  for (const model::ContainerStatus& container : pod.status.container_statuses) {
    read_container(container, worker);
  }
  return worker;
}

TrainingPods::TrainingPods(runtime::Informer& pods,
                           std::function<void(const model::ObjectKey& job)> changed)
    : pods_(pods, read, [changed = std::move(changed)](const Pods::GroupChange& change) {
        changed(change.key);
      }) {}

std::vector<WorkerPod> TrainingPods::of(const model::ObjectKey& job, const std::string& uid) const {
  std::vector<WorkerPod> pods = pods_.of(job);
  std::erase_if(pods, [&](const WorkerPod& pod) { return pod.owner_uid != uid; });
  return pods;
}

std::vector<model::ObjectKey> TrainingPods::jobs_on(const std::string& node) const {
  std::vector<model::ObjectKey> jobs;
  for (const auto& [job, workers] : pods_.groups()) {
    if (std::ranges::any_of(workers, [&](const auto& each) { return each.second.node == node; })) {
      jobs.push_back(job);
    }
  }
  return jobs;
}

}  // namespace codeflare::controllers::trainingjob
