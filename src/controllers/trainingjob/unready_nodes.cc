#include "controllers/trainingjob/unready_nodes.h"

#include "model/codec/node.h"
#include "model/node.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

bool is_ready(const runtime::ObjectChange& change) {
  const Result<model::Node>& node = change.as<model::Node>();
  if (!node) {
    return true;
  }
  const auto ready = std::ranges::find(node->status.conditions, "Ready", &model::Condition::type);
  return ready == node->status.conditions.end() || ready->status == "True";
}

}  // namespace

UnreadyNodes::UnreadyNodes(Clock& clock, runtime::Informer& nodes,
                           std::function<void(const std::string& node)> changed)
    : clock_(clock), changed_(std::move(changed)) {
  nodes.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

std::optional<Duration> UnreadyNodes::unready_for(const std::string& node) const {
  const auto at = since_.find(node);
  return at == since_.end() ? std::nullopt : std::optional<Duration>(clock_.now() - at->second);
}

void UnreadyNodes::change(const runtime::ObjectChange& change) {
  const std::string name(change.now ? change.now->name() : change.old->name());
  const bool ready = change.now == nullptr || is_ready(change);
  if (ready ? since_.erase(name) > 0 : since_.emplace(name, clock_.now()).second) {
    changed_(name);
  }
}

}  // namespace codeflare::controllers::trainingjob
