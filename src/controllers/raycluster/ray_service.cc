#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/ray_pod.h"
#include "json/parse.h"
#include "model/codec/service.h"
#include "model/resources.h"

#include <map>
#include <string>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using model::RayCluster;
using model::Service;
using model::StringMap;

// The ports of the head's Ray container, else Ray's own; metrics in any case.
std::map<std::string, int> ports_of(const RayCluster& cluster) {
  std::map<std::string, int> ports;
  for (const model::ContainerPort& port :
       cluster.spec.head_group.pod_template.spec.containers.front().ports) {
    ports[port.name.empty() ? std::to_string(port.container_port) + "-port" : port.name] =
        port.container_port;
  }
  if (ports.empty()) {
    ports = {{"client", kClientPort},
             {"dashboard", kDashboardPort},
             {"gcs-server", kGcsPort},
             {"serve", kServePort}};
  }
  ports.try_emplace("metrics", kMetricsPort);
  return ports;
}

StringMap selector_of(const RayCluster& cluster) {
  const std::string_view app =
      model::find_or_empty(cluster.spec.head_group.pod_template.metadata.labels, kAppNameLabel);
  return {{std::string(kClusterLabel), cluster.metadata.name},
          {std::string(kNodeTypeLabel), std::string(to_string(NodeType::head))},
          {std::string(kIdentifierLabel), identifier(cluster.metadata.name, NodeType::head)},
          {std::string(kAppNameLabel), std::string(app.empty() ? kApplication : app)},
          {std::string(kCreatedByLabel), std::string(kOperator)}};
}

// The user's own service; nothing when there is none or it cannot be read.
std::optional<Service> own_service(const RayCluster& cluster) {
  const std::string& text = cluster.spec.head_group.head_service.text;
  if (text.empty()) {
    return std::nullopt;
  }
  const auto document = json::parse(text);
  if (!document) {
    return std::nullopt;
  }
  Result<Service> service = model::from_json<Service>(document->root);
  return service ? std::optional(*std::move(service)) : std::nullopt;
}

}  // namespace

Service head_service(const RayCluster& cluster) {
  const std::optional<Service> own = own_service(cluster);
  Service service = own.value_or(Service());
  const std::string& type = cluster.spec.head_group.service_type;
  service.metadata.name = head_service_name(cluster);
  service.metadata.ns = cluster.metadata.ns;
  service.spec.selector = selector_of(cluster);
  for (const auto& [key, value] : service.spec.selector) {
    service.metadata.labels.insert_or_assign(key, value);
  }
  for (const auto& [key, value] : cluster.spec.head_service_annotations) {
    service.metadata.annotations.insert_or_assign(key, value);
  }
  for (const auto& [name, port] : ports_of(cluster)) {
    service.spec.ports.push_back({.name = name, .app_protocol = "tcp", .port = port});
  }
  if (service.spec.type.empty()) {
    service.spec.type = type;
  }
  if (!own && (type.empty() || type == "ClusterIP")) {
    // There is one head: its name leads straight to it, ready or not.
    service.spec.cluster_ip = "None";
    service.spec.publish_not_ready_addresses = true;
  }
  using Traits = model::ResourceTraits<RayCluster>;
  service.metadata.owner_references = {{.api_version = std::string(Traits::api_version),
                                        .kind = std::string(Traits::kind),
                                        .name = cluster.metadata.name,
                                        .uid = cluster.metadata.uid,
                                        .controller = true,
                                        .block_owner_deletion = true}};
  return service;
}

}  // namespace codeflare::controllers::raycluster
