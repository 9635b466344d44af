#include "controllers/fakenode/node_table.h"

#include "model/codec/node.h"

#include <algorithm>
#include <chrono>

namespace codeflare::controllers::fakenode {

namespace {

bool bears(const model::Toleration& toleration, const model::Taint& taint) {
  const bool key =
      toleration.key == taint.key || (toleration.key.empty() && toleration.op == "Exists");
  const bool value = toleration.op == "Exists" || toleration.value == taint.value;
  return key && value && (toleration.effect.empty() || toleration.effect == taint.effect);
}

}  // namespace

bool is_fake(const model::Node& node) {
  return model::find_or_empty(node.metadata.labels, kFakeLabel) == "true";
}

bool wanted_ready(const model::Node& node) {
  return model::find_or_empty(node.metadata.annotations, kReadyAnnotation) != "false";
}

NodeFacts facts_of(const model::Node& node) {
  NodeFacts facts{.fake = is_fake(node), .ready = wanted_ready(node)};
  for (const model::NodeAddress& address : node.status.addresses) {
    if (address.type == "InternalIP") {
      facts.address = address.address;
      break;
    }
  }
  std::ranges::copy_if(node.spec.taints, std::back_inserter(facts.evicting),
                       [](const model::Taint& taint) { return taint.effect == "NoExecute"; });
  return facts;
}

std::optional<WallTime> eviction_time(const NodeFacts& node, const model::PodSpec& pod) {
  std::optional<WallTime> first;
  for (const model::Taint& taint : node.evicting) {
    const WallTime since = taint.time_added.value_or(WallTime());
    // The shortest patience that bears it counts; none at all means at once.
    std::optional<WallTime> leaves = since;
    bool borne = false;
    for (const model::Toleration& toleration : pod.tolerations) {
      if (!bears(toleration, taint)) {
        continue;
      }
      const std::optional<WallTime> until =
          toleration.toleration_seconds
              ? std::optional(since + std::chrono::seconds(std::max<std::int64_t>(
                                          *toleration.toleration_seconds, 0)))
              : std::nullopt;
      leaves = !borne ? until : (!leaves ? until : (!until ? leaves : std::min(*leaves, *until)));
      borne = true;
    }
    if (leaves && (!first || *leaves < *first)) {
      first = leaves;
    }
  }
  return first;
}

NodeTable::NodeTable(runtime::Informer& nodes) {
  nodes.add_handler([this](const runtime::ObjectChange& change) {
    if (change.now == nullptr) {
      nodes_.erase(std::string(change.old->name()));
      return;
    }
    if (const Result<model::Node>& node = change.as<model::Node>()) {
      nodes_.insert_or_assign(std::string(change.now->name()), facts_of(*node));
    }
  });
}

const NodeFacts* NodeTable::find(std::string_view name) const {
  auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &found->second;
}

}  // namespace codeflare::controllers::fakenode
