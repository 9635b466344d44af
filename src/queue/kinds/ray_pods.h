#pragma once

#include "model/ray_cluster.h"
#include "queue/kinds/template_reader.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// The common parts of RayClusters and RayJobs. KubeRay adds containers of its own to their pods,
// and these have requests too: the amounts in the files of Ray's kinds are those of KubeRay v1.5.1.
namespace codeflare::queue {

model::Quantity mebibytes(std::int64_t count);
model::Container kuberay_container(std::string_view name, model::ResourceList requests,
                                   model::ResourceList limits);

// "-serve-svc" must fit behind it in a service's name.
inline constexpr std::size_t kRayClusterNameMax = 53;
// Names of services and pods are made of the object's: `most` characters leave room for the rest.
void check_ray_name(TemplateReader& reader, std::size_t most);

// The head and the worker groups of the cluster whose spec this is; `in_head` runs beside the head
// container. Nothing when the spec cannot be read.
std::optional<model::RayClusterSpec> add_ray_cluster(
    TemplateReader& reader, const TemplateReader::At& cluster,
    const std::optional<model::Container>& in_head);

}  // namespace codeflare::queue
