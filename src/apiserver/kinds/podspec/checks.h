#pragma once

#include "apiserver/kinds/podspec/rules.h"
#include "model/quantity.h"

#include <map>
#include <optional>
#include <string_view>

namespace codeflare::apiserver::podspec {

// The parts of a pod, each checked in a file of its own. A spot is the part itself, unless it says
// otherwise; what is absent is fine where nobody asks for it.

// What the parts have to know about the rest of the pod.
struct Surroundings {
  const Spot& spec;
  // Of a Pod; templates get some of their values later.
  bool is_pod = false;
  std::string_view pod_name;
  // Volumes without fault, by name: complaints about a bad one are enough.
  std::map<std::string_view, const json::Value*, std::less<>> volumes{};
  Names claims{};
};

// containers.cc
void check_containers(const Spot& containers, const Surroundings& pod);
void check_init_containers(const Spot& containers, const Surroundings& pod);
void check_ephemeral_containers(const Spot& containers, const Surroundings& pod);
// Of pods; templates may have spaces around an image.
void check_image_text(const Spot& container);

// env.cc
void check_env(const Spot& variables);
void check_env_from(const Spot& sources);
// What a pod may be told about itself, in a variable or in a file.
enum class Told : std::uint8_t { in_variable, in_file };
void check_field_reference(const Spot& reference, Told where);
void check_resource_reference(const Spot& reference, Told where);

// handlers.cc
void check_probes(const Spot& container, const Surroundings& pod);
void check_lifecycle(const Spot& lifecycle, const Surroundings& pod);

// mounts.cc
void check_mounts(const Spot& container, const Surroundings& pod);

// resources.cc
void check_resources(const Spot& resources, const Names& claims);
void check_pod_resources(const Spot& spec, const Names& claims);
void check_overhead(const Spot& overhead);
void check_resize_policy(const Spot& policies, const Surroundings& pod);
std::optional<model::Quantity> amount_of(const json::Value& value);
// pod_resources.cc: what the containers ask for fits into what the pod asks for.
void check_containers_fit(const Spot& spec);

// claims.cc: devices that are claimed, by the pod and by its containers.
Names claim_names(const Spot& claims);
void check_claims(const Spot& claims);
void check_used_claims(const Spot& used, const Names& claims);

// volumes.cc; fills in the volumes of the surroundings.
void check_volumes(const Spot& volumes, Surroundings& pod);
// storage_volumes.cc: the kinds of one storage system each.
void check_aws_disk(const Spot& source);
void check_azure_disk(const Spot& source);
void check_azure_file(const Spot& source);
void check_cephfs(const Spot& source);
void check_cinder(const Spot& source);
void check_csi(const Spot& source);
void check_fibre_channel(const Spot& source);
void check_flex(const Spot& source);
void check_flocker(const Spot& source);
void check_gce_disk(const Spot& source);
void check_glusterfs(const Spot& source);
void check_iscsi(const Spot& source);
void check_photon(const Spot& source);
void check_portworx(const Spot& source);
void check_quobyte(const Spot& source);
void check_rbd(const Spot& source);
void check_scale_io(const Spot& source);
void check_storageos(const Spot& source);
void check_vsphere(const Spot& source);
// file_volumes.cc: secret, configMap, downwardAPI and projected.
void check_key_files(const Spot& source, std::string_view name_key);
void check_downward_files(const Spot& source);
void check_projected(const Spot& source);
// claim_template.cc
void check_claim_template(const Spot& claim_template);

// security.cc
void check_pod_security(const Spot& security, const Spot& spec);
void check_container_security(const Spot& security, const Spot& spec);
// host.cc: what the host, its users and its system allow.
void check_host_ports(const Spot& spec, bool is_pod);
void check_host_process(const Spot& spec);
void check_host_users(const Spot& spec);
void check_operating_system(const Spot& spec);
void check_windows_options(const Spot& options);

// placement.cc: where the pod may run.
void check_affinity(const Spot& affinity);
void check_spread(const Spot& constraints);
void check_tolerations(const Spot& tolerations);
void check_scheduling_gates(const Spot& gates);

// names.cc: how the pod finds names.
void check_dns(const Spot& spec);
void check_host_aliases(const Spot& aliases);

// annotations.cc
void check_annotation_keys(const Spot& annotations);
void check_pod_annotations(const Spot& annotations, const Spot& spec);
// What annotations say about confinement is what the fields say.
void check_annotations_match(const json::Value& annotations, const Spot& spec);

// labels.cc
void check_labels(const Spot& labels);
void check_selector(const Spot& selector);
// One requirement of a selector.
struct ExpressionRules {
  bool compares = false;   // Gt and Lt are operators too
  bool values_too = true;  // each must be one that a label can have
};
void check_expression(const Spot& expression, const ExpressionRules& rules);
void check_label_name(const Spot& spot, std::string_view key, std::string_view name);

// Every container of the pod, in upstream's order; `visit` gets its spot.
template <typename Visit>
void each_container(const Spot& spec, Visit visit) {
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    const Spot containers = spec[list];
    containers.each(visit);
  }
}

}  // namespace codeflare::apiserver::podspec
