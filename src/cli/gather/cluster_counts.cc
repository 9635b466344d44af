#include "cli/gather/cluster_counts.h"

#include "cli/gather/queue_state.h"
#include "cli/views/queue_view.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/resources.h"
#include "queue/marks.h"

#include <algorithm>
#include <string>
#include <utility>

namespace codeflare::cli {

namespace {

ClusterCounts::Node counted(const model::Node& node) {
  const model::ResourceList& has = node.status.allocatable;
  return {.name = node.metadata.name,
          .ready =
              model::is_condition_true(node.status.conditions, "Ready") && !node.spec.unschedulable,
          .cpus = has.get("cpu").to_string(),
          .memory = has.get("memory").to_string(),
          .gpus = has.get("nvidia.com/gpu").to_string()};
}

bool has_ended(const model::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

Task<Result<void>> count_nodes(Session& session, ClusterCounts& counts) {
  CO_TRY_ASSIGN(const kube::ObjectList nodes,
                co_await session.client().list_all(model::resource_type<model::Node>(), {}));
  for (const kube::ObjectRef& object : nodes.items) {
    CO_TRY_ASSIGN(const model::Node node, object->as<model::Node>());
    counts.nodes.push_back(counted(node));
  }
  co_return Result<void>();
}

Task<Result<void>> count_pods(Session& session, ClusterCounts& counts) {
  CO_TRY_ASSIGN(const kube::ObjectList pods,
                co_await session.client().list_all(model::resource_type<model::Pod>(), {}));
  for (const kube::ObjectRef& object : pods.items) {
    CO_TRY_ASSIGN(const model::Pod pod, object->as<model::Pod>());
    ++counts.pods[pod.status.phase.empty() ? "Pending" : pod.status.phase];
    const auto node =
        std::ranges::find(counts.nodes, pod.spec.node_name, &ClusterCounts::Node::name);
    if (node != counts.nodes.end() && !has_ended(pod)) {
      ++node->pods;
    }
  }
  co_return Result<void>();
}

}  // namespace

Task<Result<ClusterCounts>> count_cluster(Session& session) {
  ClusterCounts counts;
  CO_TRY(co_await count_nodes(session, counts));
  CO_TRY(co_await count_pods(session, counts));
  std::string ns(queue::kControllerNamespace);
  CO_TRY_ASSIGN(const QueueState state, co_await look_at_queue(session, std::move(ns)));
  const QueueView queue = queue_of(state.wrappers, state.note.settings, state.note.paused,
                                   session.now(), {}, state.jobs);
  counts.waiting = queue.entries.size();
  counts.running = queue.running;
  counts.paused = queue.paused;
  co_return counts;
}

}  // namespace codeflare::cli
