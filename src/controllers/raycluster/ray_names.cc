#include "controllers/raycluster/ray_names.h"

#include "json/parse.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

constexpr std::size_t kPodPrefixMax = 50;
constexpr std::size_t kLabelMax = 63;

std::string pod_prefix(std::string_view name, NodeType type) {
  std::string prefix(name.substr(0, kPodPrefixMax));
  std::ranges::transform(prefix, prefix.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return prefix + "-" + std::string(to_string(type)) + "-";
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::string_view to_string(NodeType type) {
  return type == NodeType::head ? "head" : "worker";
}

std::string head_pod_prefix(std::string_view cluster) {
  return pod_prefix(cluster, NodeType::head);
}

std::string worker_pod_prefix(std::string_view cluster, std::string_view group) {
  return pod_prefix(std::string(cluster) + "-" + std::string(group), NodeType::worker);
}

std::string head_service_name(const model::RayCluster& cluster) {
  if (!cluster.spec.head_group.head_service.empty()) {
    if (const auto service = json::parse(cluster.spec.head_group.head_service.text)) {
      const json::Value* metadata = service->root.find("metadata");
      const std::string_view name =
          metadata == nullptr ? std::string_view() : metadata->string_or_empty("name");
      if (!name.empty()) {
        return std::string(name);
      }
    }
  }
  return cluster.metadata.name + "-head-svc";
}

std::string head_host(const model::RayCluster& cluster) {
  return head_service_name(cluster) + "." + cluster.metadata.ns + ".svc.cluster.local";
}

std::string head_port(const model::RayCluster& cluster) {
  const std::string_view port =
      model::find_or_empty(cluster.spec.head_group.ray_start_params, "port");
  return port.empty() ? std::to_string(kGcsPort) : std::string(port);
}

std::string label_value(std::string text) {
  if (text.size() > kLabelMax) {
    text = text.substr(text.size() - kLabelMax);
  }
  if (!text.empty() && !is_alphanumeric(text[0])) {
    text[0] = 'r';
  }
  return text;
}

std::string identifier(std::string_view cluster, NodeType type) {
  return label_value(std::string(cluster) + "-" + std::string(to_string(type)));
}

model::StringMap pod_labels(std::string_view cluster, NodeType type, std::string_view group,
                            const model::StringMap& template_labels,
                            const model::StringMap& group_labels) {
  model::StringMap labels = {
      {std::string(kRayNodeLabel), "yes"},
      {std::string(kClusterLabel), std::string(cluster)},
      {std::string(kNodeTypeLabel), std::string(to_string(type))},
      {std::string(kGroupLabel), std::string(group)},
      {std::string(kIdentifierLabel), identifier(cluster, type)},
      {std::string(kAppNameLabel), std::string(kApplication)},
      {std::string(kCreatedByLabel), std::string(kOperator)},
  };
  for (const model::StringMap* more : {&template_labels, &group_labels}) {
    for (const auto& [key, value] : *more) {
      if (key != kClusterLabel && key != kNodeTypeLabel && key != kGroupLabel) {
        labels.insert_or_assign(key, value);
      }
    }
  }
  return labels;
}

}  // namespace codeflare::controllers::raycluster
