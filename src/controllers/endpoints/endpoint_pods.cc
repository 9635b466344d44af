#include "controllers/endpoints/endpoint_pods.h"

#include "model/codec/pod.h"
#include "model/pod_facts.h"

namespace codeflare::controllers::endpoints {

EndpointPod endpoint_pod_of(const kube::Object& object) {
  EndpointPod digest{.name = std::string(object.name()), .uid = std::string(object.uid())};
  const Result<model::Pod> pod = object.as<model::Pod>();
  if (!pod) {
    return digest;
  }
  digest.labels = pod->metadata.labels;
  digest.address = pod->status.pod_ip;
  digest.node = pod->spec.node_name;
  digest.hostname = pod->spec.hostname;
  digest.subdomain = pod->spec.subdomain;
  for (const auto* containers : {&pod->spec.containers, &pod->spec.init_containers}) {
    for (const model::Container& container : *containers) {
      for (const model::ContainerPort& port : container.ports) {
        if (!port.name.empty()) {
          digest.ports.push_back({.name = port.name,
                                  .protocol = port.protocol.empty() ? "TCP" : port.protocol,
                                  .number = port.container_port});
        }
      }
    }
  }
  const model::PodFacts facts = model::facts_of(*pod);
  digest.ready = facts.ready;
  digest.deleting = facts.deleting;
  digest.over = facts.over();
  return digest;
}

EndpointPods::EndpointPods(runtime::Informer& pods) {
  pods.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

std::vector<EndpointPod> EndpointPods::selected(std::string_view ns,
                                                const model::Selector& selector) const {
  std::vector<EndpointPod> pods;
  if (const auto found = by_namespace_.find(ns); found != by_namespace_.end()) {
    for (auto& [name, entry] : found->second) {
      if (entry.unread != nullptr) {
        entry.pod = endpoint_pod_of(*entry.unread);
        entry.unread.reset();
      }
      if (selector.matches(entry.pod.labels)) {
        pods.push_back(entry.pod);
      }
    }
  }
  return pods;
}

void EndpointPods::change(const runtime::ObjectChange& change) {
  const model::ObjectKey key = (change.now ? change.now : change.old)->key();
  auto& pods = by_namespace_[key.ns];
  if (change.now != nullptr) {
    pods.insert_or_assign(key.name, Entry{.unread = change.now, .pod = {}});
    return;
  }
  pods.erase(key.name);
  if (pods.empty()) {
    by_namespace_.erase(key.ns);
  }
}

}  // namespace codeflare::controllers::endpoints
