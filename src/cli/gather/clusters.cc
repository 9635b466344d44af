#include "cli/gather/clusters.h"

#include "model/codec/managed_cluster.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/pod_requests.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>

namespace codeflare::cli {

std::vector<model::ManagedCluster> decode_clusters(const std::vector<kube::ObjectRef>& objects) {
  std::vector<model::ManagedCluster> clusters;
  for (const kube::ObjectRef& object : objects) {
    if (Result<model::ManagedCluster> cluster = object->as<model::ManagedCluster>()) {
      clusters.push_back(*std::move(cluster));
    }
  }
  std::ranges::sort(clusters, {}, [](const auto& each) { return each.metadata.name; });
  return clusters;
}

Task<std::optional<ClusterUse>> use_of_this_cluster(Session& session) {
  const Result<kube::ObjectList> nodes =
      co_await session.client().list_all(model::resource_type<model::Node>(), {});
  const Result<kube::ObjectList> pods =
      co_await session.client().list_all(model::resource_type<model::Pod>(), {});
  if (!nodes || !pods) {
    co_return std::nullopt;
  }
  ClusterUse use{.name = std::string(model::managed_cluster::kLocal), .connected = "-"};
  for (const kube::ObjectRef& object : nodes->items) {
    if (const Result<model::Node> node = object->as<model::Node>()) {
      use.nodes += 1;
      use.capacity += node->status.allocatable;
    }
  }
  use.free = use.capacity;
  for (const kube::ObjectRef& object : pods->items) {
    const Result<model::Pod> pod = object->as<model::Pod>();
    if (pod && !pod->spec.node_name.empty() && pod->status.phase != "Succeeded" &&
        pod->status.phase != "Failed") {
      use.free -= model::pod_requests(pod->spec);
    }
  }
  co_return use;
}

Task<bool> has_workers(Session& session) {
  const Result<kube::ObjectList> list =
      co_await session.client().list(model::resource_type<model::ManagedCluster>(), {.limit = 1});
  co_return list && !list->items.empty();
}

}  // namespace codeflare::cli
