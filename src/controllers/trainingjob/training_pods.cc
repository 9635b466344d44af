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

Phase phase_of(const std::string& word) {
  return word == "Running"     ? Phase::running
         : word == "Succeeded" ? Phase::succeeded
         : word == "Failed"    ? Phase::failed
                               : Phase::pending;
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

}  // namespace

WorkerPod worker_of(const kube::Object& object) {
  WorkerPod worker{.name = std::string(object.name()), .uid = std::string(object.uid())};
  const Result<model::Pod> pod = object.as<model::Pod>();
  if (!pod) {
    return worker;
  }
  if (const model::OwnerReference* owner = job_of(*pod)) {
    worker.owner_uid = owner->uid;
  }
  worker.index = index_of(model::find_or_empty(pod->metadata.labels, kIndexLabel));
  worker.node = pod->spec.node_name;
  worker.phase = phase_of(pod->status.phase);
  worker.deleting = pod->metadata.deleting();
  worker.created = pod->metadata.creation_timestamp.value_or(WallTime());
  const auto ready = std::ranges::find(pod->status.conditions, "Ready", &model::Condition::type);
  worker.ready = ready != pod->status.conditions.end() && ready->status == "True";
  worker.reason = pod->status.reason;
  for (const model::ContainerStatus& container : pod->status.init_container_statuses) {
    read_container(container, worker);
  }
  for (const model::ContainerStatus& container : pod->status.container_statuses) {
    read_container(container, worker);
  }
  return worker;
}

TrainingPods::TrainingPods(runtime::Informer& pods,
                           std::function<void(const model::ObjectKey& job)> changed)
    : changed_(std::move(changed)) {
  pods.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

std::vector<WorkerPod> TrainingPods::of(const model::ObjectKey& job, const std::string& uid) const {
  std::vector<WorkerPod> pods;
  if (const auto found = by_job_.find(job); found != by_job_.end()) {
    for (const auto& [name, worker] : found->second) {
      if (worker.owner_uid == uid) {
        pods.push_back(worker);
      }
    }
  }
  return pods;
}

void TrainingPods::change(const runtime::ObjectChange& change) {
  const kube::Object& pod = change.now ? *change.now : *change.old;
  const Result<model::Pod> read = pod.as<model::Pod>();
  const model::OwnerReference* owner = read ? job_of(*read) : nullptr;
  if (owner == nullptr) {
    return;
  }
  const model::ObjectKey job{std::string(pod.ns()), owner->name};
  if (change.now != nullptr) {
    by_job_[job].insert_or_assign(std::string(pod.name()), worker_of(pod));
  } else if (const auto found = by_job_.find(job); found != by_job_.end()) {
    found->second.erase(std::string(pod.name()));
    if (found->second.empty()) {
      by_job_.erase(found);
    }
  }
  changed_(job);
}

}  // namespace codeflare::controllers::trainingjob
