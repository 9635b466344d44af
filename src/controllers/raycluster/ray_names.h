#pragma once

#include "model/meta.h"
#include "model/ray_cluster.h"

#include <string>
#include <string_view>

// Names, labels and numbers that Ray users know from KubeRay 1.5.
namespace codeflare::controllers::raycluster {

inline constexpr std::string_view kClusterLabel = "ray.io/cluster";
inline constexpr std::string_view kNodeTypeLabel = "ray.io/node-type";
inline constexpr std::string_view kGroupLabel = "ray.io/group";
inline constexpr std::string_view kRayNodeLabel = "ray.io/is-ray-node";
inline constexpr std::string_view kIdentifierLabel = "ray.io/identifier";
inline constexpr std::string_view kAppNameLabel = "app.kubernetes.io/name";
inline constexpr std::string_view kCreatedByLabel = "app.kubernetes.io/created-by";
// The RayJob or RayService behind a cluster.
inline constexpr std::string_view kOriginLabel = "ray.io/originated-from-crd";
// "true": the container's own command stays.
inline constexpr std::string_view kOwnCommandAnnotation = "ray.io/overwrite-container-cmd";
inline constexpr std::string_view kFaultToleranceAnnotation = "ray.io/ft-enabled";

inline constexpr std::string_view kHeadGroup = "headgroup";
inline constexpr std::string_view kManager = "ray.io/kuberay-operator";
inline constexpr std::string_view kApplication = "kuberay";
inline constexpr std::string_view kOperator = "kuberay-operator";

inline constexpr int kClientPort = 10001;
inline constexpr int kGcsPort = 6379;
inline constexpr int kDashboardPort = 8265;
inline constexpr int kMetricsPort = 8080;
inline constexpr int kAgentPort = 52365;
inline constexpr int kServePort = 8000;

enum class NodeType : std::uint8_t { head, worker };
std::string_view to_string(NodeType type);

// "<cluster>-head-", "<cluster>-<group>-worker-": the server adds five letters.
std::string head_pod_prefix(std::string_view cluster);
std::string worker_pod_prefix(std::string_view cluster, std::string_view group);

// "<cluster>-head-svc" unless the spec names its own.
std::string head_service_name(const model::RayCluster& cluster);
// Where workers find the head: "<service>.<namespace>.svc.cluster.local".
std::string head_host(const model::RayCluster& cluster);
// Of the head's control store: what its start parameters say, or 6379.
std::string head_port(const model::RayCluster& cluster);

// A label value of at most 63 characters: the end of a longer one.
std::string label_value(std::string text);
std::string identifier(std::string_view cluster, NodeType type);

// Labels of a pod; those of the template and the group win except for cluster, type and group.
model::StringMap pod_labels(std::string_view cluster, NodeType type, std::string_view group,
                            const model::StringMap& template_labels,
                            const model::StringMap& group_labels);

}  // namespace codeflare::controllers::raycluster
