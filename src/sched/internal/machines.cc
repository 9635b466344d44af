#include "sched/machines.h"

#include "sched/internal/best_fit_walk.h"
#include "sched/internal/domains.h"
#include "sched/internal/line.h"
#include "sched/internal/machine_set.h"
#include "sched/internal/questions.h"
#include "sched/internal/reserve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace codeflare::sched {

namespace {

// Gangs that are looked at for each one that machines can help: the others wait for quota, or are
// single pods.
constexpr std::size_t kLookedAtPerGang = 16;

std::int64_t millionths(double cost) {
  constexpr double kMost = 9e12;
  return static_cast<std::int64_t>(std::llround(std::clamp(cost, 0.0, kMost) * 1e6));
}

// Labels and taints as constraints read them.
struct Look {
  Labels labels;
  std::vector<Taint> taints;
};

Look look_of(const NodeSpec& spec, const Labels& more) {
  Look look{spec.labels, {}};
  look.labels.insert(look.labels.end(), more.begin(), more.end());
  std::sort(look.labels.begin(), look.labels.end());
  for (const Taint& taint : spec.taints) {
    if (taint.effect != Effect::prefer_no_schedule) {
      look.taints.push_back(taint);
    }
  }
  return look;
}

// A machine that is not a node yet: asked for before, or by a gang ahead in line.
struct Machine {
  Look look;
  std::vector<Amount> free;
  std::optional<std::size_t> coming{};
  std::optional<GangId> maker{};
};

// Pods of one kind of the gang for which the same machines may be asked.
struct Batch {
  Index kind = 0;
  std::int64_t count = 0;
  std::uint32_t apart = 0;
  const std::vector<Index>* taken = nullptr;
  std::optional<std::vector<std::size_t>> only{};              // kinds
  std::uint32_t pod_set = 0;                                   // the first of `sets`
  std::vector<std::pair<std::uint32_t, std::int64_t>> sets{};  // and the count of each
};

// Where all pods of the gang have to be: anywhere, or within these values of the keys.
struct Where {
  const Domain* domain = nullptr;  // null: no node is there
  const std::vector<std::string>* keys = nullptr;
  std::vector<std::string> values{};

  bool holds(const Look& look) const {
    for (std::size_t i = 0; keys != nullptr && i < keys->size(); ++i) {
      const std::pair<std::string, std::string> label((*keys)[i], values[i]);
      if (!std::binary_search(look.labels.begin(), look.labels.end(), label)) {
        return false;
      }
    }
    return true;
  }
};

struct NodeTake {
  Index node = 0;
  std::size_t batch = 0;
  std::int64_t count = 0;
};
struct MachineTake {
  std::size_t machine = 0;
  std::size_t batch = 0;
  std::int64_t count = 0;
};
// Places of one gang, not taken yet but for those on nodes.
struct Attempt {
  bool ok = false;
  std::vector<NodeTake> nodes;
  std::vector<MachineTake> machines;
  MachineSet fresh;
  std::vector<std::size_t> rest;  // positions of the batches that `fresh` holds
};

class Walk {
 public:
  Walk(State& state, const MachineQuestion& question);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  MachineAnswer run(Time now);

 private:
  // Shape, path, purse, and whether it is behind the reservation.
  using Failure = std::tuple<Index, Index, std::string, bool>;

  MachineNeed need_of(Index gang, const MachineWish& wish);
  bool is_fenced(Index gang, Time now) const;
  std::vector<Batch> batches_of(const Shape& shape, const MachineWish& wish) const;
  std::vector<Where> places_for(const Shape& shape, const MachineWish& wish,
                                const std::vector<Domain>& domains) const;
  Attempt attempt(const std::vector<Batch>& batches, const Where& where, const MachineWish& wish,
                  const SetLimits& limits);
  std::int64_t take_nodes(const std::vector<Batch>& batches, std::size_t batch, const Where& where,
                          Attempt& attempt);
  std::int64_t take_machines(const std::vector<Batch>& batches, std::size_t batch,
                             std::int64_t rest, const Where& where, Attempt& attempt);
  void take_node(const std::vector<Batch>& batches, const NodeTake& take, int sign);
  void undo(const std::vector<Batch>& batches, const Attempt& attempt);
  std::vector<MachinePlace> pod_places(const std::vector<Batch>& batches,
                                       const Attempt& attempt) const;
  void commit(const std::vector<Batch>& batches, Index gang, const MachineWish& wish,
              Attempt attempt, MachineNeed& need);
  bool suits(const Batch& batch, const Look& look) const;
  SetLimits limits(const MachineWish& wish) const;

  State& state_;
  const MachineQuestion& question_;
  std::vector<OfferedMachine> offers_;
  std::vector<Machine> machines_;
  std::int64_t machines_left_;
  std::int64_t cost_left_;
  std::map<std::string, std::int64_t> purses_;
  std::map<Failure, MachineNeed> failures_;
  bool starting_ = false;  // some kind starts gangs
  std::uint64_t changes_before_;
  // A change that is undone at the end.
  struct Held {
    Index node;
    Index kind;
    std::int64_t count;
  };
  std::vector<Held> held_;
  std::vector<std::pair<const QuotaPath*, const Request*>> charged_;
};

std::vector<Amount> row_of(const ResourceTable& resources, const Resources& amounts) {
  std::vector<Amount> row(resources.size());
  for (const Resource& each : amounts) {
    // Names that nobody has asked for concern nobody.
    if (const Index r = resources.find(each.name); r != kNone) {
      row[r] = std::clamp<Amount>(each.amount, 0, kAmountMax);
    }
  }
  return row;
}

Walk::Walk(State& state, const MachineQuestion& question)
    : state_(state),
      question_(question),
      machines_left_(question.machines_left),
      cost_left_(millionths(question.cost_left)),
      changes_before_(state.cluster.changes()) {
  const ResourceTable& resources = state.cluster.resources();
  for (const MachineKind& kind : question.kinds) {
    offers_.push_back({.capacity = row_of(resources, kind.node.allocatable),
                       .cost = millionths(kind.cost),
                       .left = kind.left,
                       .limited = kind.limited});
    starting_ = starting_ || kind.starts;
  }
  // Relative to the largest of all kinds, so that resources compare.
  for (Index r = 0; r < resources.pack_size(); ++r) {
    Amount largest = 0;
    for (const OfferedMachine& offer : offers_) {
      largest = std::max(largest, offer.capacity[r]);
    }
    for (OfferedMachine& offer : offers_) {
      offer.size +=
          largest == 0 ? 0 : static_cast<double>(offer.capacity[r]) / static_cast<double>(largest);
    }
  }
  for (std::size_t i = 0; i < question.coming.size(); ++i) {
    machines_.push_back({.look = look_of(question.coming[i], {}),
                         .free = row_of(resources, question.coming[i].allocatable),
                         .coming = i});
  }
  for (const auto& [name, cost] : question.purses) {
    purses_.emplace(name, millionths(cost));
  }
}

Walk::~Walk() {
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) {
    state_.cluster.give(held->node, state_.cluster.kind(held->kind).request, held->count);
  }
  for (const auto& [path, charge] : charged_) {
    state_.forest.charge_quietly(path->leaves, *charge, -1);
  }
  state_.cluster.undone_since(changes_before_);
}

bool Walk::suits(const Batch& batch, const Look& look) const {
  static const std::vector<std::string> kNothingOpen;
  return matches(state_.cluster.kind(batch.kind).constraint,
                 {look.labels, look.taints, kNothingOpen});
}

SetLimits Walk::limits(const MachineWish& wish) const {
  const auto purse = purses_.find(wish.purse);
  return {
      .machines = machines_left_,
      .cost = cost_left_,
      .purse = purse == purses_.end() ? std::numeric_limits<std::int64_t>::max() : purse->second};
}

std::vector<Batch> Walk::batches_of(const Shape& shape, const MachineWish& wish) const {
  std::vector<Batch> batches;
  for (const Group& group : shape.groups) {
    const auto only = [&](std::uint32_t set) {
      return set < wish.kinds.size() ? std::optional(wish.kinds[set]) : std::nullopt;
    };
    const std::size_t first = batches.size();
    for (const auto& [set, count] : group.sets) {
      const auto same =
          std::find_if(batches.begin() + static_cast<std::ptrdiff_t>(first), batches.end(),
                       [&](const Batch& batch) { return batch.only == only(set); });
      if (same != batches.end()) {
        same->count += count;
        same->sets.emplace_back(set, count);
      } else if (count > 0) {
        batches.push_back(
            {group.kind, count, group.apart, &group.taken, only(set), set, {{set, count}}});
      }
    }
  }
  return batches;
}

// Domains of existing nodes, and those that only new machines would have.
std::vector<Where> Walk::places_for(const Shape& shape, const MachineWish& wish,
                                    const std::vector<Domain>& domains) const {
  const std::vector<std::string>& keys = shape.within.keys;
  if (keys.empty()) {
    return {Where{}};
  }
  std::vector<Where> all;
  for (const Domain& domain : domains) {
    Where where{.domain = &domain, .keys = &keys};
    for (const Index value : domain.values) {
      where.values.push_back(state_.cluster.label_text(value));
    }
    all.push_back(std::move(where));
  }
  const auto add = [&](const Look& look) {
    Where where{.keys = &keys};
    for (const std::string& key : keys) {
      const auto label = std::ranges::find(look.labels, key, &Labels::value_type::first);
      if (label == look.labels.end()) {
        return;
      }
      where.values.push_back(label->second);
    }
    const bool known =
        std::ranges::any_of(all, [&](const Where& each) { return each.values == where.values; });
    if (!known) {
      all.push_back(std::move(where));
    }
  };
  for (const Machine& machine : machines_) {
    add(machine.look);
  }
  for (const MachineKind& kind : question_.kinds) {
    add(look_of(kind.node, wish.labels));
  }
  return all;
}

void Walk::take_node(const std::vector<Batch>& batches, const NodeTake& take, int sign) {
  state_.cluster.take(take.node, state_.cluster.kind(batches[take.batch].kind).request,
                      sign * take.count);
}

// Best fit, as a placement does it. Returns how many pods are left.
std::int64_t Walk::take_nodes(const std::vector<Batch>& batches, std::size_t batch,
                              const Where& where, Attempt& attempt) {
  const Batch& each = batches[batch];
  std::int64_t rest = each.count;
  if (where.keys != nullptr && where.domain == nullptr) {
    return rest;
  }
  const Cluster& cluster = state_.cluster;
  const Kind& kind = cluster.kind(each.kind);
  const Scope scope = where.domain == nullptr ? Scope{} : scope_of(*where.domain);
  const auto is_taken = [&](Index node) {
    return std::ranges::find(*each.taken, node) != each.taken->end() ||
           (each.apart != 0 && std::ranges::any_of(attempt.nodes, [&](const NodeTake& take) {
              return take.node == node && batches[take.batch].apart == each.apart;
            }));
  };
  std::vector<NodeTake> found;
  const auto look_at = [&](Index node) {
    const std::int64_t here = is_taken(node) ? 0 : room(cluster, kind, node, nullptr, rest);
    if (here > 0) {
      found.push_back({node, batch, here});
      rest -= here;
    }
  };
  if (scope.nodes != nullptr) {
    for (const Index node : *scope.nodes) {
      if (rest > 0 && in_domain(cluster, kind, where.domain->values, node)) {
        look_at(node);
      }
    }
  } else {
    BestFitWalk walk(cluster, kind, scope.classes(kind), nullptr);
    for (Index node = walk.next(); rest > 0 && node != kNone; node = walk.next()) {
      look_at(node);
    }
  }
  for (const NodeTake& take : found) {
    take_node(batches, take, +1);
    attempt.nodes.push_back(take);
  }
  return rest;
}

std::int64_t Walk::take_machines(const std::vector<Batch>& batches, std::size_t batch,
                                 std::int64_t rest, const Where& where, Attempt& attempt) {
  const Batch& each = batches[batch];
  const Kind& kind = state_.cluster.kind(each.kind);
  for (std::size_t i = 0; rest > 0 && i < machines_.size(); ++i) {
    Machine& machine = machines_[i];
    const bool taken =
        each.apart != 0 && std::ranges::any_of(attempt.machines, [&](const MachineTake& take) {
          return take.machine == i && batches[take.batch].apart == each.apart;
        });
    const std::int64_t most = kind.constraint.apart ? std::min<std::int64_t>(rest, 1) : rest;
    const std::int64_t here = taken ? 0 : times(machine.free.data(), kind.request, most);
    if (here == 0 || !where.holds(machine.look) || !suits(each, machine.look)) {
      continue;
    }
    for (const Part& part : kind.request) {
      machine.free[part.resource] -= part.amount * here;
    }
    attempt.machines.push_back({i, batch, here});
    rest -= here;
  }
  return rest;
}

Attempt Walk::attempt(const std::vector<Batch>& batches, const Where& where,
                      const MachineWish& wish, const SetLimits& bounds) {
  Attempt attempt;
  std::vector<PodsToHold> pods;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    std::int64_t rest = take_nodes(batches, i, where, attempt);
    rest = take_machines(batches, i, rest, where, attempt);
    if (rest == 0) {
      continue;
    }
    const Kind& kind = state_.cluster.kind(batches[i].kind);
    PodsToHold left{.request = &kind.request,
                    .count = rest,
                    .one_each = kind.constraint.apart,
                    .apart = batches[i].apart};
    for (std::size_t k = 0; k < question_.kinds.size(); ++k) {
      const Look look = look_of(question_.kinds[k].node, wish.labels);
      const auto& only = batches[i].only;
      const bool asked =
          std::find(wish.without.begin(), wish.without.end(), k) == wish.without.end() &&
          (!only || std::find(only->begin(), only->end(), k) != only->end());
      left.allowed.push_back(asked && where.holds(look) && suits(batches[i], look));
    }
    pods.push_back(std::move(left));
    attempt.rest.push_back(i);
  }
  if (pods.empty()) {
    attempt.ok = true;
    return attempt;
  }
  attempt.fresh = cheapest_set(pods, offers_, bounds, question_.combinations_max);
  attempt.ok = attempt.fresh.found();
  return attempt;
}

void Walk::undo(const std::vector<Batch>& batches, const Attempt& attempt) {
  for (const NodeTake& take : attempt.nodes) {
    take_node(batches, take, -1);
  }
  for (const MachineTake& take : attempt.machines) {
    for (const Part& part : state_.cluster.kind(batches[take.batch].kind).request) {
      machines_[take.machine].free[part.resource] += part.amount * take.count;
    }
  }
}

std::vector<MachineCount> counts_of(const MachineSet& set) {
  std::map<std::size_t, std::int64_t> counts;
  for (const NewMachine& machine : set.machines) {
    ++counts[machine.kind];
  }
  std::vector<MachineCount> list;
  for (const auto& [kind, count] : counts) {
    list.push_back({kind, count});
  }
  return list;
}

std::vector<MachineLoad> loads_of(const std::vector<Batch>& batches, const Attempt& attempt) {
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> pods;
  for (const NewMachine& machine : attempt.fresh.machines) {
    for (const auto& [position, count] : machine.holds) {
      pods[{machine.kind, batches[attempt.rest[position]].pod_set}] += count;
    }
  }
  std::vector<MachineLoad> loads;
  for (const auto& [where, count] : pods) {
    loads.push_back({where.first, where.second, count});
  }
  return loads;
}

// The places of a batch go to its pod sets in their order.
std::vector<MachinePlace> Walk::pod_places(const std::vector<Batch>& batches,
                                           const Attempt& attempt) const {
  std::vector<MachinePlace> places;
  std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> left;
  for (const Batch& batch : batches) {
    left.push_back(batch.sets);
  }
  const auto give = [&](std::size_t batch, std::optional<NodeId> node, std::int64_t count) {
    for (auto& [set, pods] : left[batch]) {
      const std::int64_t here = std::min(pods, count);
      if (here > 0) {
        places.push_back({set, node, here});
      }
      pods -= here;
      count -= here;
    }
  };
  for (const NodeTake& take : attempt.nodes) {
    give(take.batch, NodeId{take.node, state_.cluster.nodes()[take.node].generation}, take.count);
  }
  for (const MachineTake& take : attempt.machines) {
    give(take.batch, std::nullopt, take.count);
  }
  for (const NewMachine& machine : attempt.fresh.machines) {
    for (const auto& [position, count] : machine.holds) {
      give(attempt.rest[position], std::nullopt, count);
    }
  }
  return places;
}

void Walk::commit(const std::vector<Batch>& batches, Index gang, const MachineWish& wish,
                  Attempt attempt, MachineNeed& need) {
  for (const NodeTake& take : attempt.nodes) {
    held_.push_back({take.node, batches[take.batch].kind, take.count});
  }
  std::set<std::size_t> uses;
  std::set<GangId> shares;
  for (const MachineTake& take : attempt.machines) {
    const Machine& machine = machines_[take.machine];
    if (machine.coming) {
      uses.insert(*machine.coming);
    } else if (machine.maker) {
      shares.insert(*machine.maker);
    }
  }
  need.uses.assign(uses.begin(), uses.end());
  need.shares.assign(shares.begin(), shares.end());
  need.machines = counts_of(attempt.fresh);
  need.loads = loads_of(batches, attempt);
  need.places = pod_places(batches, attempt);
  need.outcome = attempt.fresh.found()              ? MachineNeed::Outcome::asks
                 : !uses.empty() || !shares.empty() ? MachineNeed::Outcome::coming
                                                    : MachineNeed::Outcome::fits;
  for (NewMachine& machine : attempt.fresh.machines) {
    --offers_[machine.kind].left;
    machines_.push_back({.look = look_of(question_.kinds[machine.kind].node, wish.labels),
                         .free = std::move(machine.free),
                         .maker = state_.gangs.id(gang)});
  }
  machines_left_ -= attempt.fresh.limited;
  cost_left_ -= attempt.fresh.limited_cost;
  if (const auto purse = purses_.find(wish.purse); purse != purses_.end()) {
    purse->second -= attempt.fresh.limited_cost;
  }
  const Gang& asked = state_.gangs[gang];
  const QuotaPath& path = state_.claims.path_of(asked.claim);
  const Request& charge = state_.shapes[asked.shape].charge;
  state_.forest.charge_quietly(path.leaves, charge, +1);
  charged_.emplace_back(&path, &charge);
}

MachineNeed Walk::need_of(Index gang, const MachineWish& wish) {
  const Shape& shape = state_.shapes[state_.gangs[gang].shape];
  MachineNeed need{.gang = state_.gangs.id(gang)};
  const std::vector<Batch> batches = batches_of(shape, wish);
  const std::vector<Domain> domains =
      shape.within.keys.empty() ? std::vector<Domain>() : domains_of(state_.cluster, shape);
  const std::vector<Where> places = places_for(shape, wish, domains);
  const auto score = [](const Attempt& each) {
    return std::tuple(each.fresh.cost, each.fresh.size, each.fresh.machines.size());
  };
  const auto best_of = [&](const SetLimits& bounds, Attempt& failed) -> std::optional<std::size_t> {
    std::optional<std::size_t> best;
    Attempt chosen;
    for (std::size_t i = 0; i < places.size(); ++i) {
      Attempt each = attempt(batches, places[i], wish, bounds);
      undo(batches, each);
      if (!each.ok && (i == 0 || failed.fresh.impossible)) {
        failed = std::move(each);
      } else if (!each.ok) {
        continue;
      } else if (!best || score(each) < score(chosen)) {
        best = i;
        chosen = std::move(each);
      }
    }
    return best;
  };
  Attempt failed;
  if (const auto best = best_of(limits(wish), failed)) {
    commit(batches, gang, wish, attempt(batches, places[*best], wish, limits(wish)), need);
    return need;
  }
  if (failed.fresh.impossible || places.empty()) {
    need.outcome = MachineNeed::Outcome::impossible;
    need.pod_set =
        failed.fresh.impossible ? batches[failed.rest[*failed.fresh.impossible]].pod_set : 0;
    return need;
  }
  need.outcome = MachineNeed::Outcome::over_limit;
  need.limit = failed.fresh.limit;
  need.kind = failed.fresh.kind;
  SetLimits none;
  none.bounded = false;
  Attempt unused;
  if (const auto best = best_of(none, unused)) {
    const Attempt wanted = attempt(batches, places[*best], wish, none);
    undo(batches, wanted);
    need.machines = counts_of(wanted.fresh);
  } else {
    need.outcome = MachineNeed::Outcome::impossible;
  }
  return need;
}

// Behind the gang that holds the reservation, while that gang waits.
bool Walk::is_fenced(Index gang, Time now) const {
  if (!state_.reservation || state_.reservation->gang == gang) {
    return false;
  }
  const Reservation& held = *state_.reservation;
  const Gang& holder = state_.gangs[held.gang];
  if (!holder.alive || holder.lane == kNone || holder.lane != held.lane) {
    return false;
  }
  const Index lane = state_.gangs[gang].lane;
  return lane == held.lane || reserves_before(state_, held.lane, lane, now);
}

MachineAnswer Walk::run(Time now) {
  MachineAnswer answer;
  std::size_t asked = 0;
  for (const Index gang : line_of(state_, now, question_.gangs_max * kLookedAtPerGang)) {
    if (!waits_for_places(why_of(state_, gang))) {
      continue;
    }
    const Gang& each = state_.gangs[gang];
    std::optional<MachineWish> wish =
        question_.wish ? question_.wish(state_.gangs.id(gang)) : MachineWish{};
    const QuotaPath& path = state_.claims.path_of(each.claim);
    if (!wish || state_.forest.shortage(path.leaves, state_.shapes[each.shape].charge)) {
      continue;
    }
    if (asked++ == question_.gangs_max) {
      answer.cut_short = true;
      break;
    }
    // The rest only shrinks on the way: alike gangs behind one that failed fail, too.
    const bool plain = wish->labels.empty() && wish->kinds.empty() && wish->without.empty();
    const bool fenced = starting_ && is_fenced(gang, now);
    const Failure key(each.shape, state_.lanes[each.lane].key.path, wish->purse, fenced);
    if (const auto known = failures_.find(key); plain && known != failures_.end()) {
      answer.needs.push_back(known->second);
      answer.needs.back().gang = state_.gangs.id(gang);
      continue;
    }
    for (std::size_t kind = 0; fenced && kind < question_.kinds.size(); ++kind) {
      if (question_.kinds[kind].starts) {
        wish->without.push_back(kind);
      }
    }
    MachineNeed need = need_of(gang, *wish);
    need.fenced = fenced;
    const bool failed = need.outcome == MachineNeed::Outcome::over_limit ||
                        need.outcome == MachineNeed::Outcome::impossible;
    if (plain && failed) {
      failures_.emplace(key, need);
    }
    answer.needs.push_back(std::move(need));
  }
  return answer;
}

}  // namespace

MachineAnswer machines(State& state, const MachineQuestion& question, Time now) {
  return Walk(state, question).run(now);
}

}  // namespace codeflare::sched
