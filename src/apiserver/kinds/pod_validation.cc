#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/podspec/checks.h"
#include "apiserver/registry/edit.h"

#include <limits>

namespace codeflare::apiserver {

namespace {

using podspec::Surroundings;

// The pod's accounts and names.
void check_identity(const Field& spec) {
  for (std::string_view key : {"serviceAccountName", "nodeName"}) {
    podspec::check_name(spec, key, model::check_dns1123_subdomain);
  }
  podspec::check_range(spec, "activeDeadlineSeconds", 1, std::numeric_limits<std::int32_t>::max());
  for (std::string_view key : {"hostname", "subdomain"}) {
    podspec::check_name(spec, key, model::check_dns1123_label);
  }
}

void check_readiness_gates(const Field& gates) {
  gates.each([](const Field& gate) {
    podspec::check_any_name(gate, "conditionType", model::check_qualified_name);
  });
}

// In upstream's order, so that the first complaint is the same.
void check_spec(const Field& spec, Surroundings pod) {
  pod.claims = podspec::claim_names(spec["resourceClaims"]);
  podspec::check_volumes(spec["volumes"], pod);
  podspec::check_claims(spec["resourceClaims"]);
  podspec::check_containers(spec["containers"], pod);
  podspec::check_init_containers(spec["initContainers"], pod);
  podspec::check_ephemeral_containers(spec["ephemeralContainers"], pod);
  podspec::check_pod_resources(spec, pod.claims);
  podspec::check_host_ports(spec, pod.is_pod);
  podspec::need_one_of(spec, "restartPolicy", {"Always", "OnFailure", "Never"});
  podspec::need_one_of(spec, "dnsPolicy",
                       {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  podspec::check_labels(spec["nodeSelector"]);
  podspec::check_pod_security(spec["securityContext"], spec);
  podspec::check_affinity(spec["affinity"]);
  podspec::check_dns(spec);
  check_readiness_gates(spec["readinessGates"]);
  podspec::check_scheduling_gates(spec["schedulingGates"]);
  podspec::check_spread(spec["topologySpreadConstraints"]);
  podspec::check_host_process(spec);
  podspec::check_host_users(spec);
  check_identity(spec);
  podspec::check_tolerations(spec["tolerations"]);
  podspec::check_host_aliases(spec["hostAliases"]);
  podspec::check_name(spec, "priorityClassName", model::check_dns1123_subdomain);
  if (spec.has("runtimeClassName")) {
    podspec::check_any_name(spec, "runtimeClassName", model::check_dns1123_subdomain);
  }
  if (spec.has("preemptionPolicy")) {
    podspec::need_one_of(spec, "preemptionPolicy", {"PreemptLowerPriority", "Never"});
  }
  podspec::check_overhead(spec["overhead"]);
  podspec::check_operating_system(spec);
}

// A token says who the pod is, so it needs to be somebody.
void check_tokens(const Field& spec) {
  if (!spec.text("serviceAccountName").empty()) {
    return;
  }
  const Field volumes = spec["volumes"];
  volumes.each([](const Field& volume) {
    const Field projected = volume["projected"];
    const Field sources = projected["sources"];
    sources.each([](const Field& source) {
      if (source.has("serviceAccountToken")) {
        source.forbidden("serviceAccountToken",
                         "must not be specified when serviceAccountName is not set");
      }
    });
  });
}

}  // namespace

void validate_nonnegative(const json::Value& parent, std::string_view key, std::string_view path,
                          FieldErrors& errors) {
  podspec::check_not_negative(Field(parent, path, errors), key);
}

void validate_pod(const json::Value& pod, FieldErrors& errors) {
  const json::Value& metadata = object_at(pod, "metadata");
  const json::Value& annotations = object_at(metadata, "annotations");
  const Field spec(object_at(pod, "spec"), "spec", errors);
  podspec::check_pod_annotations(Field(annotations, "metadata.annotations", errors), spec);
  check_spec(spec, {.spec = spec, .is_pod = true, .pod_name = text_at(metadata, "name")});
  check_tokens(spec);
  for (std::string_view list : {"containers", "initContainers"}) {
    const Field containers = spec[list];
    containers.each(podspec::check_image_text);
  }
  // Without a version it is being created.
  if (absent(metadata, "resourceVersion")) {
    if (spec.count("ephemeralContainers") > 0) {
      spec.forbidden("ephemeralContainers", "cannot be set on create");
    }
    if (!spec.text("nodeName").empty() && spec.count("schedulingGates") > 0) {
      spec.forbidden("nodeName", "cannot be set until all schedulingGates have been cleared");
    }
    podspec::check_annotations_match(annotations, spec);
  }
}

void validate_pod_template(const json::Value& pod_template, std::string_view path,
                           FieldErrors& errors) {
  const std::string at = child(path, "spec");
  const Field outer(pod_template, path, errors);
  const Field spec(object_at(pod_template, "spec"), at, errors);
  // Upstream leaves the metadata out of the path.
  const json::Value& metadata = object_at(pod_template, "metadata");
  const Field labels = outer["labels"];
  const Field annotations = outer["annotations"];
  const Field own_annotations = annotations.with(object_at(metadata, "annotations"));
  podspec::check_labels(labels.with(object_at(metadata, "labels")));
  podspec::check_annotation_keys(own_annotations);
  podspec::check_pod_annotations(own_annotations, spec);
  check_spec(spec, {.spec = spec, .is_pod = false, .pod_name = {}});
  podspec::check_annotations_match(own_annotations.value(), spec);
  if (spec.count("ephemeralContainers") > 0) {
    spec.forbidden("ephemeralContainers", "ephemeral containers not allowed in pod template");
  }
}

}  // namespace codeflare::apiserver
