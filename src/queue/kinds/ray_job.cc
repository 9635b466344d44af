#include "queue/kinds/kinds.h"
#include "queue/kinds/ray_pods.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace codeflare::queue {
namespace {

using At = TemplateReader::At;

// A RayJob's cluster has six characters more than its own name.
constexpr std::size_t kNameMax = kRayClusterNameMax - 6;

model::Container submitter_container() {
  return kuberay_container("ray-job-submitter",
                           {{"cpu", model::Quantity::milli(500)}, {"memory", mebibytes(200)}},
                           {{"cpu", model::Quantity(1)}, {"memory", mebibytes(1024)}});
}

// The submitter pod that KubeRay runs for a RayJob that brings none.
model::PodSpec default_submitter(const std::string& image) {
  model::PodSpec spec;
  spec.containers.push_back(submitter_container());
  spec.containers.front().image = image;
  spec.restart_policy = "Never";
  return spec;
}

void add_submitter(TemplateReader& reader, const At& job_spec,
                   const std::optional<model::RayClusterSpec>& cluster) {
  const At given = TemplateReader::below(job_spec, "submitterPodTemplate");
  if (given.value != nullptr) {
    if (PodTemplate* added = reader.add_template(given, 1, 1)) {
      added->undeclared = true;
    }
    return;
  }
  PodTemplate submitter{.path = {}, .count = 1, .total = 1, .undeclared = true};
  if (cluster && !cluster->head_group.pod_template.spec.containers.empty()) {
    submitter.path = given.pointer;
    submitter.missing = true;
    submitter.spec =
        default_submitter(cluster->head_group.pod_template.spec.containers.front().image);
  } else {
    submitter.spec = default_submitter("");
  }
  reader.add(std::move(submitter), given.pointer + "/spec");
}

void read_templates(TemplateReader& reader, const At& spec) {
  check_ray_name(reader, kNameMax);
  const At mode_at = TemplateReader::below(spec, "submissionMode");
  const std::string_view mode =
      mode_at.value == nullptr ? "K8sJobMode" : spec.value->string_or_empty("submissionMode");
  constexpr std::array<std::string_view, 4> kModes = {"K8sJobMode", "HTTPMode", "InteractiveMode",
                                                      "SidecarMode"};
  if (std::ranges::find(kModes, mode) == kModes.end()) {
    reader.problems().add(mode_at.pointer,
                          "must be one of K8sJobMode, HTTPMode, InteractiveMode, SidecarMode");
    return;
  }
  const At cluster_at = TemplateReader::below(spec, "rayClusterSpec");
  std::optional<model::RayClusterSpec> cluster;
  if (cluster_at.value != nullptr) {
    cluster = add_ray_cluster(
        reader, cluster_at,
        mode == "SidecarMode" ? std::optional(submitter_container()) : std::nullopt);
  } else if (TemplateReader::below(spec, "clusterSelector").value == nullptr) {
    reader.problems().add(cluster_at.pointer, "required without a clusterSelector");
    return;
  }
  if (mode == "K8sJobMode") {
    add_submitter(reader, spec, cluster);
  }
}

}  // namespace

// Its cluster's name is made up by KubeRay, so no label of its pods is known by the object's name.
constinit const WrappedKind kRayJob{
    .group = "ray.io",
    .kind = "RayJob",
    .read_templates = read_templates,
    .life = always_ends,
    .limits_may_come = true,
    .failure = job_status_failure,
    .succeeded = job_status_success,
};

}  // namespace codeflare::queue
