#include "controllers/usage/usage_pods.h"

#include "model/codec/pod.h"
#include "model/training_job.h"
#include "usage/ledger.h"
#include "usage/units.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::metering {

namespace {

void read_owner(const model::Pod& pod, MeteredPod& metered) {
  for (const model::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller.value_or(false) &&
        owner.kind == model::ResourceTraits<model::TrainingJob>::kind) {
      metered.job_uid = owner.uid;
      metered.job_name = owner.name;
    }
  }
}

// The status has the last two runs of a container that restarts; its first start was seen before.
void keep_begin(const MeteredPod& before, MeteredPod& now) {
  if (before.uid == now.uid && before.times.begin) {
    now.times.begin = std::min(now.times.begin.value_or(*before.times.begin), *before.times.begin);
  }
}

using Pods = runtime::Index<std::string, MeteredPod>;

std::optional<Pods::Entry> read(const runtime::ObjectChange& change, const MeteredPod* before) {
  const Result<model::Pod>& pod = change.as<model::Pod>();
  std::optional<MeteredPod> metered = pod ? metered_pod(*pod) : std::nullopt;
  if (!metered) {
    return std::nullopt;
  }
  if (before != nullptr) {
    keep_begin(*before, *metered);
  }
  return Pods::Entry{pod->metadata.ns, *std::move(metered)};
}

// A pod that merely starts or becomes ready is not news, but its namespace gets a ledger.
bool is_news(const Pods::GroupChange& change) {
  return change.before == nullptr || change.now == nullptr || change.now->terminal ||
         change.now->may_go;
}

}  // namespace

std::optional<MeteredPod> metered_pod(const model::Pod& pod) {
  if (std::ranges::find(pod.metadata.finalizers, usage::kFinalizer) ==
      pod.metadata.finalizers.end()) {
    return std::nullopt;
  }
  MeteredPod metered{.name = pod.metadata.name, .uid = pod.metadata.uid};
  metered.queue =
      std::string(model::find_or_empty(pod.metadata.annotations, usage::kQueueAnnotation));
  if (metered.queue.empty()) {
    metered.queue = usage::kDefaultQueue;
  }
  read_owner(pod, metered);
  metered.node = pod.spec.node_name;
  metered.times = usage::times_of(pod);
  metered.units = usage::units_of(pod.spec);
  metered.terminal = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  if (pod.metadata.deletion_timestamp) {
    metered.deleted = *pod.metadata.deletion_timestamp;
    // A kubelet that has stopped the containers deletes the pod with grace 0.
    metered.may_go =
        metered.node.empty() || pod.metadata.deletion_grace_period_seconds.value_or(1) == 0;
  }
  return metered;
}

UsagePods::UsagePods(runtime::Informer& pods, std::function<void(const std::string& ns)> changed)
    : pods_(pods, read, [changed = std::move(changed)](const Pods::GroupChange& change) {
        if (is_news(change)) {
          changed(change.key);
        }
      }) {}

}  // namespace codeflare::controllers::metering
