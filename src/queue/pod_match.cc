#include "model/pod_requests.h"
#include "queue/demand.h"
#include "queue/internal/declared.h"
#include "queue/marks.h"

#include <charconv>
#include <string_view>

namespace codeflare::queue {
namespace {

std::optional<std::uint32_t> by_label(const Demand& demand, const model::Pod& pod) {
  const std::string_view label = model::find_or_empty(pod.metadata.labels, kPodSetLabel);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  if (label.empty() || error != std::errc() || end != label.data() + label.size() ||
      number >= demand.pod_sets.size()) {
    return std::nullopt;
  }
  return number;
}

model::ResourceList without_pods(model::ResourceList list) {
  list.erase("pods");
  return list;
}

}  // namespace

std::optional<std::uint32_t> pod_set_of(const Demand& demand, const model::Pod& pod) {
  if (const std::optional<std::uint32_t> labelled = by_label(demand, pod)) {
    return labelled;
  }
  const model::ResourceList requests = model::pod_requests(pod.spec);
  std::optional<std::uint32_t> best;
  double best_unlikeness = 0;
  for (std::size_t i = 0; i < demand.pod_sets.size(); ++i) {
    const PodSetDemand& set = demand.pod_sets[i];
    const model::ResourceList reserved = without_pods(to_resource_list(set.pods.requests));
    if (set.pods.count == 0 || !requests.fits_in(reserved)) {
      continue;
    }
    // Pods of sets with a template carry labels: of two alike the other set is likelier.
    const double found = unlikeness(requests, reserved) + (set.template_path ? 1e-9 : 0);
    if (!best || found < best_unlikeness) {
      best = static_cast<std::uint32_t>(i);
      best_unlikeness = found;
    }
  }
  return best;
}

}  // namespace codeflare::queue
