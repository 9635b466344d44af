#include "queue/kinds/kinds.h"
#include "queue/kinds/pod_counts.h"
#include "queue/kinds/ray_pods.h"

#include <algorithm>
#include <array>

namespace codeflare::queue {
namespace {

constexpr std::array<std::string_view, 1> kNameLabels = {"ray.io/cluster"};

constexpr std::array<std::string_view, 4> kCountFields = {"replicas", "minReplicas", "maxReplicas",
                                                          "numOfHosts"};

void read_templates(TemplateReader& reader, const TemplateReader::At& spec) {
  check_ray_name(reader, kRayClusterNameMax);
  add_ray_cluster(reader, spec, std::nullopt);
}

// Of worker groups alone: there is one head.
std::optional<std::int64_t> count_pods(const PodCount& asked) {
  if (asked.path.size() < 2 || asked.path[1] != "workerGroupSpecs") {
    return std::nullopt;
  }
  const json::Value& group = asked.parent;
  const std::int64_t least = count_in(group, "minReplicas").value_or(0);
  const std::int64_t most = count_in(group, "maxReplicas").value_or(kPodCountMax);
  const std::int64_t replicas = std::max(count_in(group, "replicas").value_or(0), least);
  return std::min(replicas, most) * count_in(group, "numOfHosts").value_or(1);
}

}  // namespace

// It has no end.
constinit const WrappedKind kRayCluster{
    .group = "ray.io",
    .kind = "RayCluster",
    .read_templates = read_templates,
    .name_labels = kNameLabels,
    .template_labels_win = true,
    .count_pods = count_pods,
    .count_fields = {.list = "workerGroupSpecs", .names = kCountFields},
    .limits_may_come = true,
};

}  // namespace codeflare::queue
