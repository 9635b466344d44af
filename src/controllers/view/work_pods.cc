#include "controllers/view/work_pods.h"

#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/dispatch/marks.h"
#include "model/managed_cluster.h"
#include "queue/status_words.h"

#include <utility>

namespace codeflare::controllers::view {

namespace {

std::string cluster_of_plan(const model::AppWrapper& wrapper) {
  if (!wrapper.status.plan || wrapper.status.plan->places.empty()) {
    return "";
  }
  return std::string(
      model::managed_cluster::cluster_of_node(wrapper.status.plan->places.front().node));
}

// The copy on a worker, if it is one of this AppWrapper.
Task<Result<model::AppWrapper>> copy_of(kube::Client& worker, model::AppWrapper wrapper) {
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await worker.get(app_wrapper_type(model::WrapperApi::workload_v1beta1),
                                    wrapper.metadata.key()));
  CO_TRY_ASSIGN(model::AppWrapper copy, to_app_wrapper(*object));
  const auto mark = copy.metadata.annotations.find(std::string(dispatch::kHubUidAnnotation));
  if (mark == copy.metadata.annotations.end() || mark->second != wrapper.metadata.uid) {
    co_return fail(not_found("AppWrapper " + wrapper.metadata.ns + "/" + wrapper.metadata.name +
                             " there is not a copy of the one here"));
  }
  co_return copy;
}

}  // namespace

Task<Result<WorkPods>> find_work_pods(kube::Client& client, const dispatch::WorkerClients* workers,
                                      model::AppWrapper wrapper) {
  const std::string cluster = cluster_of_plan(wrapper);
  if (workers != nullptr && !cluster.empty() && cluster != model::managed_cluster::kLocal) {
    const std::shared_ptr<kube::Client> worker = workers->client(cluster);
    if (worker == nullptr) {
      co_return fail(unavailable("cluster " + cluster + " is not reachable: no usable kubeconfig"));
    }
    const Result<model::AppWrapper> copy = co_await copy_of(*worker, std::move(wrapper));
    if (!copy) {
      co_return fail(copy.error().with_context("cluster " + cluster));
    }
    co_return WorkPods{worker.get(), worker, cluster, queue::pod_selector(*copy)};
  }
  if (workers != nullptr && cluster.empty()) {
    for (const dispatch::WorkerSeen& seen : workers->clusters()) {
      const std::shared_ptr<kube::Client> worker =
          seen.connected ? workers->client(seen.name) : nullptr;
      if (worker == nullptr) {
        continue;
      }
      model::AppWrapper question = wrapper;
      const Result<model::AppWrapper> copy = co_await copy_of(*worker, std::move(question));
      if (copy) {
        co_return WorkPods{worker.get(), worker, seen.name, queue::pod_selector(*copy)};
      }
    }
  }
  co_return WorkPods{&client, nullptr, "", queue::pod_selector(wrapper)};
}

}  // namespace codeflare::controllers::view
