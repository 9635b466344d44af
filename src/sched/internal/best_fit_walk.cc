#include "sched/internal/best_fit_walk.h"

#include <algorithm>

namespace codeflare::sched {

std::int64_t room(const Cluster& cluster, const Kind& kind, Index node, const Overlay* overlay,
                  std::int64_t most) {
  if (kind.constraint.apart) {
    most = std::min<std::int64_t>(most, 1);
  }
  most = times(cluster.free(node), kind.request, most);
  if (most > 0 && overlay != nullptr) {
    if (const auto* left = overlay->find(node)) {
      most = times(left->data(), kind.request, most);
    }
  }
  return most;
}

BestFitWalk::BestFitWalk(const Cluster& cluster, const Kind& kind,
                         const std::vector<Index>& classes, const Overlay* overlay)
    : cluster_(cluster), kind_(kind), overlay_(overlay) {
  heads_.reserve(classes.size());
  for (const Index node_class : classes) {
    add(node_class, {});
  }
}

BestFitWalk::BestFitWalk(const Cluster& cluster, const Kind& kind,
                         const std::vector<Index>& classes, const Overlay* overlay, Index behind)
    : cluster_(cluster), kind_(kind), overlay_(overlay) {
  heads_.reserve(classes.size());
  for (const Index node_class : classes) {
    add(node_class, cluster.node_class(node_class).index.after(cluster.order(), behind));
  }
}

void BestFitWalk::add(Index node_class, ClassIndex::Cursor cursor) {
  Head head{&cluster_.node_class(node_class).index, cursor};
  if (settle(head)) {
    heads_.push_back(head);
  }
}

bool BestFitWalk::settle(Head& head) const {
  for (;; ClassIndex::advance(head.cursor)) {
    head.node = head.index->next_fit(cluster_.order(), kind_.request, head.cursor);
    if (head.node == kNone) {
      return false;
    }
    if (overlay_ != nullptr && room(cluster_, kind_, head.node, overlay_, 1) == 0) {
      continue;
    }
    if (cluster_.allows(kind_, head.node)) {
      return true;
    }
  }
}

Index BestFitWalk::next() {
  if (heads_.empty()) {
    return kNone;
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < heads_.size(); ++i) {
    if (cluster_.order().before(heads_[i].node, heads_[best].node)) {
      best = i;
    }
  }
  Head& head = heads_[best];
  const Index node = head.node;
  ClassIndex::advance(head.cursor);
  if (!settle(head)) {
    head = heads_.back();
    heads_.pop_back();
  }
  return node;
}

}  // namespace codeflare::sched
