#include "queue/adopted_pods.h"

#include "model/gvk.h"
#include "queue/demand.h"
#include "queue/marks.h"
#include "queue/status_words.h"

namespace codeflare::queue {

void AdoptedPods::learn(const model::AppWrapper& wrapper) {
  if (!is_from_mcad(wrapper.status)) {
    return;
  }
  const Result<Demand> demand = demand_of(wrapper);
  if (!demand) {
    return;
  }
  for (const ItemInfo& item : demand->items) {
    items_.insert_or_assign(
        {item.key.ns, model::parse_api_version(item.api_version).group, item.kind, item.key.name},
        Wrapper{wrapper.metadata.uid, wrapper.metadata.name});
  }
}

void AdoptedPods::forget(std::string_view uid) {
  std::erase_if(items_, [&](const auto& item) { return item.second.uid == uid; });
}

void AdoptedPods::mark(model::Pod& pod) const {
  model::StringMap& labels = pod.metadata.labels;
  if (items_.empty() || labels.contains(kUidLabel) || labels.contains(kMcadLabel)) {
    return;
  }
  for (const model::OwnerReference& owner : pod.metadata.owner_references) {
    if (!owner.controller.value_or(false)) {
      continue;
    }
    const auto found =
        items_.find({pod.metadata.ns, model::parse_api_version(owner.api_version).group, owner.kind,
                     owner.name});
    if (found != items_.end()) {
      labels.emplace(kMcadLabel, found->second.name);
    }
  }
}

}  // namespace codeflare::queue
