#include "apiserver/registry/builtin_data.h"

#include <array>
#include <string>

namespace codeflare::apiserver::builtin {
namespace {

struct Row {
  std::string_view resource;  // "pods", "jobs.batch"
  std::string_view name;
  std::string_view path{};
  std::string_view absent{};
};

constexpr auto kRows = std::to_array<Row>({
    {"pods", "spec.nodeName"},
    {"pods", "spec.restartPolicy"},
    {"pods", "spec.schedulerName"},
    {"pods", "spec.serviceAccountName"},
    {"pods", "spec.hostNetwork", "spec.hostNetwork", "false"},
    {"pods", "status.phase"},
    {"pods", "status.podIP"},
    {"pods", "status.podIPs", "status.podIP"},
    {"pods", "status.nominatedNodeName"},
    {"pods", "spec.host", "spec.nodeName"},
    {"nodes", "spec.unschedulable", "spec.unschedulable", "false"},
    {"replicationcontrollers", "status.replicas", "status.replicas", "0"},
    {"replicasets.apps", "status.replicas", "status.replicas", "0"},
    {"namespaces", "status.phase"},
    {"secrets", "type"},
    {"services", "spec.clusterIP"},
    {"services", "spec.type"},
    {"jobs.batch", "status.successful", "status.succeeded", "0"},
    {"certificatesigningrequests.certificates.k8s.io", "spec.signerName"},
    {"resourceslices.resource.k8s.io", "spec.nodeName"},
    {"resourceslices.resource.k8s.io", "spec.driver"},
    {"events", "involvedObject.kind"},
    {"events", "involvedObject.namespace"},
    {"events", "involvedObject.name"},
    {"events", "involvedObject.uid"},
    {"events", "involvedObject.apiVersion"},
    {"events", "involvedObject.resourceVersion"},
    {"events", "involvedObject.fieldPath"},
    {"events", "reason"},
    {"events", "reportingComponent"},
    {"events", "source", "source.component"},
    {"events", "type"},
    // Paths are those of the stored form, a core Event.
    {"events.events.k8s.io", "reason"},
    {"events.events.k8s.io", "regarding.kind", "involvedObject.kind"},
    {"events.events.k8s.io", "regarding.namespace", "involvedObject.namespace"},
    {"events.events.k8s.io", "regarding.name", "involvedObject.name"},
    {"events.events.k8s.io", "regarding.uid", "involvedObject.uid"},
    {"events.events.k8s.io", "regarding.apiVersion", "involvedObject.apiVersion"},
    {"events.events.k8s.io", "regarding.resourceVersion", "involvedObject.resourceVersion"},
    {"events.events.k8s.io", "regarding.fieldPath", "involvedObject.fieldPath"},
    {"events.events.k8s.io", "reportingController", "reportingComponent"},
    {"events.events.k8s.io", "type"},
});

}  // namespace

std::vector<SelectableField> selectable_fields(std::string_view group, std::string_view plural) {
  std::string qualified(plural);
  if (!group.empty()) {
    qualified.append(".").append(group);
  }
  std::vector<SelectableField> fields;
  for (const Row& row : kRows) {
    if (row.resource == qualified) {
      fields.push_back({.name = std::string(row.name),
                        .path = std::string(row.path),
                        .absent = std::string(row.absent)});
    }
  }
  return fields;
}

}  // namespace codeflare::apiserver::builtin
