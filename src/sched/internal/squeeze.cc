#include "sched/internal/squeeze.h"

#include "sched/internal/best_fit_walk.h"

#include <algorithm>
#include <tuple>

namespace codeflare::sched {

namespace {

// Trials to put something back: each may be a search for places.
constexpr std::size_t kSpareTrialsMax = 64;
// Givers whose offers are looked at first; then four times as many, and so on.
constexpr std::size_t kGiversAtFirst = 16;

bool usable(const Cluster& cluster, const Kind& kind, Index node) {
  const auto& classes = kind.classes;
  return std::ranges::find(classes, cluster.nodes()[node].node_class) != classes.end() &&
         cluster.allows(kind, node);
}

}  // namespace

Squeeze::Squeeze(State& state, Lifting& lifting, const Shape& shape,
                 const std::vector<Index>& givers, const Most& most)
    : state_(state), lifting_(lifting), shape_(shape) {
  for (const Index each : givers) {
    const Elastic& elastic = state.elastics[each];
    givers_.push_back({each, most(elastic)});
  }
}

bool Squeeze::widen() {
  if (looked_at_ == givers_.size()) {
    return false;
  }
  const std::size_t end = std::min(givers_.size(), std::max(kGiversAtFirst, 4 * looked_at_));
  for (; looked_at_ < end; ++looked_at_) {
    const Elastic& elastic = state_.elastics[givers_[looked_at_].elastic];
    for (const GrownSlot& slot : elastic.coming) {
      offers_[slot.node].push_back({looked_at_, slot.count, true});
    }
    for (const GrownSlot& slot : elastic.grown) {
      offers_[slot.node].push_back({looked_at_, slot.count, false});
    }
  }
  return true;
}

bool Squeeze::run() {
  // Each turn lifts a place at least.
  for (;;) {
    if (lifting_.shortage()) {
      if (!relieve_quota()) {
        return false;
      }
      continue;
    }
    const Placed placed = lifting_.try_place();
    if (placed.ok()) {
      lifting_.unplace(placed);
      return true;
    }
    if (!free_places(placed)) {
      return false;
    }
  }
}

void Squeeze::lift_one(Index node, Offer& offer) {
  --offer.count;
  --givers_[offer.giver].left;
  lifting_.lift_growth({givers_[offer.giver].elastic, node, 1, offer.coming});
}

bool Squeeze::relieve_quota() {
  const QuotaShortage shortage = *lifting_.shortage();
  Offer* best = nullptr;
  Index at = kNone;
  for (auto& [node, offers] : offers_) {
    for (Offer& offer : offers) {
      if (offer.count == 0 || givers_[offer.giver].left == 0) {
        continue;
      }
      if (best != nullptr && best->giver <= offer.giver) {
        continue;
      }
      const Elastic& elastic = state_.elastics[givers_[offer.giver].elastic];
      if (amount_of(elastic_set(state_, elastic).charge, shortage.resource) == 0) {
        continue;
      }
      bool charges = false;
      state_.forest.each_on_path(state_.gangs.run_of(elastic.gang).leaves,
                                 [&](Index on) { charges = charges || on == shortage.node; });
      if (charges) {
        best = &offer;
        at = node;
      }
    }
  }
  if (best == nullptr) {
    return widen() && relieve_quota();
  }
  lift_one(at, *best);
  return true;
}

// How many places of the node have to go until one more pod of the kind fits there.
Squeeze::Choice Squeeze::look_at(Index node, const Kind& kind, std::int64_t most) const {
  const Cluster& cluster = state_.cluster;
  const std::int64_t before = room(cluster, kind, node, nullptr, most);
  if (before >= most) {
    return {};
  }
  std::vector<Amount> row(cluster.free(node), cluster.free(node) + cluster.order().resources);
  Choice choice{.node = node};
  // Offers of one giver are neighbours: what is coming, then what has come.
  std::size_t giver = givers_.size();
  std::int64_t left = 0;
  for (const Offer& offer : offers_.at(node)) {
    if (offer.giver != giver) {
      giver = offer.giver;
      left = givers_[giver].left;
    }
    const Request& one = elastic_request(state_, state_.elastics[givers_[offer.giver].elastic]);
    for (std::int64_t i = 0; i < offer.count && left > 0; ++i) {
      --left;
      for (const Part& part : one) {
        row[part.resource] += part.amount;
      }
      ++choice.places;
      choice.worst = std::max(choice.worst, offer.giver);
      choice.gained = times(row.data(), kind.request, most) - before;
      if (choice.gained > 0) {
        return choice;
      }
    }
  }
  return {};
}

void Squeeze::lift_on(Index node, std::int64_t places) {
  for (Offer& offer : offers_[node]) {
    while (places > 0 && offer.count > 0 && givers_[offer.giver].left > 0) {
      lift_one(node, offer);
      --places;
    }
  }
}

Squeeze::Choice Squeeze::best_choice(const Placed& failed) const {
  const bool one = failed.outcome == Placed::Outcome::short_of_places;
  Choice best;
  for (Index group = 0; group < shape_.groups.size(); ++group) {
    if (one && group != failed.group) {
      continue;
    }
    const Kind& kind = state_.cluster.kind(shape_.groups[group].kind);
    const auto& taken = shape_.groups[group].taken;
    const std::int64_t most = kind.constraint.apart ? 1 : shape_.groups[group].count;
    for (const auto& [node, offers] : offers_) {
      if (!usable(state_.cluster, kind, node) || std::ranges::find(taken, node) != taken.end()) {
        continue;
      }
      const Choice choice = look_at(node, kind, most);
      if (choice.node == kNone) {
        continue;
      }
      // Few places for a pod; then who gives way first.
      const auto cost = [](const Choice& each) {
        return std::tuple(each.places, each.worst, -each.gained);
      };
      if (best.node == kNone || cost(choice) < cost(best)) {
        best = choice;
      }
    }
  }
  return best;
}

bool Squeeze::free_places(const Placed& failed) {
  Choice best = best_choice(failed);
  // No choice is cheaper than one place, and later givers lose against earlier ones.
  while (best.places != 1 && widen()) {
    best = best_choice(failed);
  }
  if (best.node == kNone) {
    return false;
  }
  lift_on(best.node, best.places);
  return true;
}

void Squeeze::spare(const std::function<bool()>& fits) {
  std::vector<TakenGrowth> lifted = lifting_.growth();
  const auto order = [&](const TakenGrowth& each) {
    const auto giver = std::ranges::find(givers_, each.elastic, &Giver::elastic);
    return std::tuple(giver - givers_.begin(), each.node, each.coming);
  };
  std::ranges::sort(
      lifted, [&](const TakenGrowth& a, const TakenGrowth& b) { return order(a) > order(b); });
  // The last chosen made it fit: without the others it may still.
  std::size_t trials = 0;
  for (const TakenGrowth& each : lifted) {
    if (lifted.size() == 1 || trials++ == kSpareTrialsMax) {
      return;
    }
    lifting_.restore_growth(each);
    if (!fits()) {
      lifting_.lift_growth(each);
    }
  }
}

}  // namespace codeflare::sched
