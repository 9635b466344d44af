#pragma once

#include "apiserver/kinds/podspec/rules.h"
#include "model/quantity.h"

#include <map>
#include <optional>
#include <string_view>

namespace codeflare::apiserver::podspec {

// The parts of a pod, each checked in a file of its own. A field is the part itself, unless it says
// otherwise; what is absent is fine where nobody asks for it.

// Facts about the rest of the pod that the parts need.
struct Surroundings {
  const Field& spec;
  // Of a Pod; templates get some of their values later.
  bool is_pod = false;
  std::string_view pod_name;
  // Volumes without fault, by name: complaints about a bad one are enough.
  std::map<std::string_view, const json::Value*, std::less<>> volumes{};
  Names claims{};
};

// containers.cc
void check_containers(const Field& containers, const Surroundings& pod);
void check_init_containers(const Field& containers, const Surroundings& pod);
void check_ephemeral_containers(const Field& containers, const Surroundings& pod);
// Of pods; templates may have spaces around an image.
void check_image_text(const Field& container);

// env.cc
void check_env(const Field& variables);
void check_env_from(const Field& sources);
// How a container gets fields of its own pod: in an environment variable or in a file.
enum class DownwardApi : std::uint8_t { variable, file };
void check_field_reference(const Field& reference, DownwardApi where);
void check_resource_reference(const Field& reference, DownwardApi where);

// handlers.cc
void check_probes(const Field& container, const Surroundings& pod);
void check_lifecycle(const Field& lifecycle, const Surroundings& pod);

// mounts.cc
void check_mounts(const Field& container, const Surroundings& pod);

// resources.cc
void check_resources(const Field& resources, const Names& claims);
void check_pod_resources(const Field& spec, const Names& claims);
void check_overhead(const Field& overhead);
void check_resize_policy(const Field& policies, const Surroundings& pod);
std::optional<model::Quantity> amount_of(const json::Value& value);
// pod_resources.cc: what the containers ask for fits into what the pod asks for.
void check_containers_fit(const Field& spec);

// claims.cc: devices that are claimed, by the pod and by its containers.
Names claim_names(const Field& claims);
void check_claims(const Field& claims);
void check_used_claims(const Field& used, const Names& claims);

// volumes.cc; fills in the volumes of the surroundings.
void check_volumes(const Field& volumes, Surroundings& pod);
// storage_volumes.cc: the kinds of one storage system each.
void check_aws_disk(const Field& source);
void check_azure_disk(const Field& source);
void check_azure_file(const Field& source);
void check_cephfs(const Field& source);
void check_cinder(const Field& source);
void check_csi(const Field& source);
void check_fibre_channel(const Field& source);
void check_flex(const Field& source);
void check_flocker(const Field& source);
void check_gce_disk(const Field& source);
void check_glusterfs(const Field& source);
void check_iscsi(const Field& source);
void check_photon(const Field& source);
void check_portworx(const Field& source);
void check_quobyte(const Field& source);
void check_rbd(const Field& source);
void check_scale_io(const Field& source);
void check_storageos(const Field& source);
void check_vsphere(const Field& source);
// file_volumes.cc: secret, configMap, downwardAPI and projected.
void check_key_files(const Field& source, std::string_view name_key);
void check_downward_files(const Field& source);
void check_projected(const Field& source);
// claim_template.cc
void check_claim_template(const Field& claim_template);

// security.cc
void check_pod_security(const Field& security, const Field& spec);
void check_container_security(const Field& security, const Field& spec);
// host.cc: what the host, its users and its system allow.
void check_host_ports(const Field& spec, bool is_pod);
void check_host_process(const Field& spec);
void check_host_users(const Field& spec);
void check_operating_system(const Field& spec);
void check_windows_options(const Field& options);

// placement.cc: where the pod may run.
void check_affinity(const Field& affinity);
void check_spread(const Field& constraints);
void check_tolerations(const Field& tolerations);
void check_scheduling_gates(const Field& gates);

// names.cc: how the pod finds names.
void check_dns(const Field& spec);
void check_host_aliases(const Field& aliases);

// annotations.cc
void check_annotation_keys(const Field& annotations);
void check_pod_annotations(const Field& annotations, const Field& spec);
// Annotations about confinement must agree with the fields.
void check_annotations_match(const json::Value& annotations, const Field& spec);

// labels.cc
void check_labels(const Field& labels);
void check_selector(const Field& selector);
// One requirement of a selector.
struct ExpressionRules {
  bool compares = false;   // Gt and Lt are operators too
  bool values_too = true;  // each must be one that a label can have
};
void check_expression(const Field& expression, const ExpressionRules& rules);
void check_label_name(const Field& field, std::string_view key, std::string_view name);

// Every container of the pod, in upstream's order; `visit` gets its field.
template <typename Visit>
void each_container(const Field& spec, Visit visit) {
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    const Field containers = spec[list];
    containers.each(visit);
  }
}

}  // namespace codeflare::apiserver::podspec
