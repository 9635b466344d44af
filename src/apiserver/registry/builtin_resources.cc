#include "apiserver/registry/builtin_data.h"
#include "apiserver/registry/registry.h"
#include "apiserver/schema/builtin.h"

#include <algorithm>
#include <array>

namespace codeflare::apiserver {
namespace {

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

// Kinds whose objects carry metadata.generation.
constexpr auto kWithGeneration = std::to_array<std::string_view>({
    "pods",
    "podtemplates",
    "replicationcontrollers",
    "daemonsets.apps",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "ingresses.networking.k8s.io",
    "ingressclasses.networking.k8s.io",
    "networkpolicies.networking.k8s.io",
    "endpointslices.discovery.k8s.io",
    "poddisruptionbudgets.policy",
    "priorityclasses.scheduling.k8s.io",
    "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
    "resourceslices.resource.k8s.io",
    "deviceclasses.resource.k8s.io",
    "csidrivers.storage.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
});

constexpr auto kCreateOnUpdate = std::to_array<std::string_view>({
    "services",
    "endpoints",
    "events",
    "events.events.k8s.io",
    "limitranges",
    "leases.coordination.k8s.io",
    "runtimeclasses.node.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
});

constexpr auto kConditionalOnly = std::to_array<std::string_view>({
    "leases.coordination.k8s.io",
    "runtimeclasses.node.k8s.io",
    "poddisruptionbudgets.policy",
    "csidrivers.storage.k8s.io",
    "csinodes.storage.k8s.io",
    "csistoragecapacities.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
});

// The real server's warning for clients that still use these.
std::string_view deprecation_of(const schema::BuiltinResource& builtin) {
  if (builtin.group.empty() && builtin.plural == "componentstatuses") {
    return "v1 ComponentStatus is deprecated in v1.19+";
  }
  if (builtin.group.empty() && builtin.plural == "endpoints") {
    return "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  }
  return "";
}

// Facts about a kind that nobody wrote a strategy for.
class PlainStrategy final : public Strategy {
 public:
  explicit PlainStrategy(const Resource& resource)
      : generation_(contains(kWithGeneration, resource.qualified_name())),
        create_on_update_(contains(kCreateOnUpdate, resource.qualified_name())),
        unconditional_(!contains(kConditionalOnly, resource.qualified_name())),
        path_names_(resource.group == "rbac.authorization.k8s.io"),
        label_names_(resource.qualified_name() == "namespaces"),
        keeps_status_(resource.qualified_name() == "nodes") {}

  model::Complaints check_name(std::string_view name, bool prefix) const override {
    if (path_names_) {
      return check_path_segment_name(name, prefix);
    }
    if (label_names_) {
      return prefix && name.ends_with('-')
                 ? model::check_dns1123_label(std::string(name.substr(0, name.size() - 1)) + "a")
                 : model::check_dns1123_label(name);
    }
    return Strategy::check_name(name, prefix);
  }
  bool generation() const override { return generation_; }
  bool allow_create_on_update() const override { return create_on_update_; }
  bool allow_unconditional_update() const override { return unconditional_; }
  bool keeps_status_at_creation() const override { return keeps_status_; }

 private:
  bool generation_;
  bool create_on_update_;
  bool unconditional_;
  bool path_names_;
  bool label_names_;
  bool keeps_status_;
};

std::vector<std::string> strings(std::span<const std::string_view> views) {
  return {views.begin(), views.end()};
}

ServedVersion version_of(const schema::BuiltinResource& builtin) {
  ServedVersion version{.version = std::string(builtin.version), .schema = builtin.schema};
  version.storage_version_hash = builtin.storage_version_hash;
  version.selectable_fields = builtin::selectable_fields(builtin.group, builtin.plural);
  version.deprecation_warning = deprecation_of(builtin);
  version.deprecated = !version.deprecation_warning.empty();
  for (const schema::BuiltinSubresource& sub : builtin.subresources) {
    version.has_status = version.has_status || sub.name == "status";
    if (sub.name == "scale") {
      version.scale = ScaleSubresource{.spec_replicas_path = ".spec.replicas",
                                       .status_replicas_path = ".status.replicas",
                                       .label_selector_path = ".spec.selector"};
    }
    version.subresources.push_back({.name = std::string(sub.name),
                                    .kind = std::string(sub.kind),
                                    .group = std::string(sub.group),
                                    .version = std::string(sub.version),
                                    .verbs = strings(sub.verbs)});
  }
  return version;
}

Resource resource_of(const schema::BuiltinResource& builtin) {
  Resource resource;
  resource.group = builtin.group;
  resource.plural = builtin.plural;
  resource.singular = builtin.singular;
  resource.kind = builtin.kind;
  resource.list_kind = std::string(builtin.kind) + "List";
  resource.short_names = strings(builtin.short_names);
  resource.categories = strings(builtin.categories);
  resource.namespaced = builtin.namespaced;
  resource.verbs = strings(builtin.verbs);
  return resource;
}

}  // namespace

model::Complaints check_path_segment_name(std::string_view name, bool prefix) {
  if (!prefix && (name == "." || name == "..")) {
    return {"may not be '" + std::string(name) + "'"};
  }
  model::Complaints complaints;
  for (std::string_view forbidden : {"/", "%"}) {
    if (name.contains(forbidden)) {
      complaints.push_back("may not contain '" + std::string(forbidden) + "'");
    }
  }
  return complaints;
}

void add_builtin_resources(Registry& registry,
                           const std::function<CollectionId(std::string_view)>& collection,
                           const std::function<void(Resource&)>& customize) {
  std::vector<Resource> resources;
  for (const schema::BuiltinResource& builtin : schema::builtin_resources()) {
    auto at = std::ranges::find_if(resources, [&](const Resource& known) {
      return known.group == builtin.group && known.plural == builtin.plural;
    });
    if (at == resources.end()) {
      at = resources.insert(resources.end(), resource_of(builtin));
    }
    at->versions.push_back(version_of(builtin));
  }
  for (Resource& resource : resources) {
    std::ranges::sort(resource.versions, version_precedes, &ServedVersion::version);
    resource.strategy = std::make_shared<const PlainStrategy>(resource);
    if (resource.group == "events.k8s.io") {
      resource.stored_as = "v1";
      resource.convert = builtin::convert_event;
      resource.collection = collection("events");
    } else {
      resource.collection = collection(resource.qualified_name());
    }
    if (resource.group == "autoscaling") {
      resource.convert = builtin::convert_autoscaler;
    }
    if (customize) {
      customize(resource);
    }
    registry.add(std::move(resource));
  }
}

}  // namespace codeflare::apiserver
