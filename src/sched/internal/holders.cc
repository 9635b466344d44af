#include "sched/internal/domains.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/questions.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sched {

namespace {

bool may_use(const State& state, const Shape& shape, Index node) {
  const Cluster& cluster = state.cluster;
  return std::any_of(shape.groups.begin(), shape.groups.end(), [&](const Group& group) {
    const Kind& kind = cluster.kind(group.kind);
    return std::find(kind.classes.begin(), kind.classes.end(), cluster.nodes()[node].node_class) !=
               kind.classes.end() &&
           cluster.allows(kind, node);
  });
}

Amount free_for(const State& state, const Shape& shape, Index resource) {
  Amount sum = 0;
  for (Index node = 0; node < state.cluster.nodes().size(); ++node) {
    if (!state.cluster.nodes()[node].alive || !may_use(state, shape, node)) {
      continue;
    }
    sum += std::max<Amount>(0, state.cluster.free(node)[resource]);
  }
  return sum;
}

// The most visible shortage: the first resource that is short in sum, else the first of all.
Index short_resource(const State& state, const Shape& shape) {
  for (const Part& part : shape.total) {
    if (free_for(state, shape, part.resource) < part.amount) {
      return part.resource;
    }
  }
  return shape.total.empty() ? kNone : shape.total.front().resource;
}

// The run's part of what is short.
struct Held {
  Request amounts;
  double weight = 0;  // largest first; 0: nothing
};

Held held_on_nodes(const State& state, const Shape& shape, Index resource, const Run& run) {
  Request held;
  each_holding(state, run, [&](Index node, const Request& request, std::int64_t count) {
    if (!may_use(state, shape, node)) {
      return;
    }
    for (const Part& part : request) {
      if (amount_of(shape.total, part.resource) > 0) {
        add(held, {part}, count);
      }
    }
  });
  const auto weight = static_cast<double>(amount_of(held, resource));
  return {std::move(held), weight};
}

Amount charged(const State& state, const QuotaShortage& shortage, const Run& run) {
  bool charges = false;
  state.forest.each_on_path(run.leaves,
                            [&](Index node) { charges = charges || node == shortage.node; });
  return charges ? amount_of(run.charge, shortage.resource) : 0;
}

// Of several nodes and resources: the part of what has to be given back that it could give counts.
Held held_of_quota(const State& state, const std::vector<QuotaShortage>& shortages,
                   const Run& run) {
  Held held;
  for (const QuotaShortage& each : shortages) {
    const Amount amount = charged(state, each, run);
    if (amount <= 0) {
      continue;
    }
    if (amount_of(held.amounts, each.resource) == 0) {
      add(held.amounts, {{each.resource, amount}}, 1);
    }
    const Amount needed = each.used + each.requested - each.limit;
    held.weight = std::max(held.weight, static_cast<double>(amount) / static_cast<double>(needed));
  }
  return held;
}

// More is taken on these nodes than they have: the places of a nominated gang are not free yet.
struct Overdraft {
  Index node = 0;
  Index resource = 0;
  Amount amount = 0;
};

std::vector<Overdraft> overdrafts(const State& state, const Run& place) {
  std::vector<Overdraft> found;
  each_holding(state, place, [&](Index node, const Request& request, std::int64_t) {
    for (const Part& part : request) {
      const Amount free = state.cluster.free(node)[part.resource];
      const bool known = std::any_of(found.begin(), found.end(), [&](const Overdraft& each) {
        return each.node == node && each.resource == part.resource;
      });
      if (free < 0 && !known) {
        found.push_back({node, part.resource, -free});
      }
    }
  });
  return found;
}

Held held_of_place(const State& state, const std::vector<Overdraft>& overdrawn, const Run& run) {
  Held held;
  each_holding(state, run, [&](Index node, const Request& request, std::int64_t count) {
    for (const Overdraft& each : overdrawn) {
      const Amount amount = each.node == node ? amount_of(request, each.resource) * count : 0;
      if (amount <= 0) {
        continue;
      }
      add(held.amounts, {{each.resource, amount}}, 1);
      held.weight += static_cast<double>(amount) / static_cast<double>(each.amount);
    }
  });
  return held;
}

struct Entry {
  const Run* run;
  Held held;
};

bool is_leaving(const State& state, Index gang) {
  const Gang& each = state.gangs[gang];
  return each.state == GangState::draining ||
         (each.elastic != kNone && !state.elastics[each.elastic].leaving.empty());
}

std::int64_t growth_of(const State& state, Index gang) {
  const Index elastic = state.gangs[gang].elastic;
  if (elastic == kNone) {
    return 0;
  }
  return total(state.elastics[elastic].grown) + total(state.elastics[elastic].leaving);
}

// Leaving gangs that are in the way of a nominated gang until then.
std::vector<Entry> leaving(const State& state, Index gang) {
  const Run& place = state.gangs.run_of(gang);
  const std::vector<QuotaShortage> quota = quota_beyond(state, place);
  const std::vector<Overdraft> overdrawn = overdrafts(state, place);
  std::vector<Entry> found;
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone || !is_leaving(state, run.gang)) {
      continue;
    }
    Held held = held_of_quota(state, quota, run);
    if (held.weight <= 0) {
      held = held_of_place(state, overdrawn, run);
    }
    if (held.weight > 0) {
      found.push_back({&run, std::move(held)});
    }
  }
  return found;
}

std::vector<Entry> in_the_way(const State& state, Index gang) {
  const Gang& asked = state.gangs[gang];
  const Shape& shape = state.shapes[asked.shape];
  const QuotaPath& path = state.claims.path_of(asked.claim);
  // It waits for a name.
  if (!path.problem.empty()) {
    return {};
  }
  const auto shortages = state.forest.shortages(path.leaves, shape.charge);
  const Index resource = shortages.empty() ? short_resource(state, shape) : kNone;
  std::vector<Entry> found;
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone || run.gang == gang) {
      continue;
    }
    Held held = shortages.empty() ? held_on_nodes(state, shape, resource, run)
                                  : held_of_quota(state, shortages, run);
    if (held.weight > 0) {
      found.push_back({&run, std::move(held)});
    }
  }
  return found;
}

// Of a waiting gang that has to stay within one of them.
std::vector<std::string> domains_held(const State& state, Index gang, const Run& run) {
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  if (shape.within.keys.empty() || shape.groups.empty()) {
    return {};
  }
  const Kind& kind = state.cluster.kind(shape.groups.front().kind);
  std::set<std::string> names;
  each_holding(state, run, [&](Index node, const Request&, std::int64_t) {
    const DomainValues values = state.cluster.domain_of(kind, node);
    if (values.size() == shape.within.keys.size()) {
      names.insert(domain_text(state.cluster, values));
    }
  });
  return {names.begin(), names.end()};
}

}  // namespace

std::vector<Holder> holders(const State& state, Index gang, Time now, std::size_t most) {
  const bool nominated = state.gangs[gang].state == GangState::nominated;
  std::vector<Entry> found = nominated ? leaving(state, gang) : in_the_way(state, gang);
  std::sort(found.begin(), found.end(), [&](const Entry& a, const Entry& b) {
    if (a.held.weight != b.held.weight) {
      return a.held.weight > b.held.weight;
    }
    return state.gangs[a.run->gang].name < state.gangs[b.run->gang].name;
  });
  if (found.size() > most) {
    found.resize(most);
  }
  std::vector<Holder> result;
  for (const Entry& each : found) {
    const Gang& holder = state.gangs[each.run->gang];
    result.push_back({state.gangs.id(each.run->gang), holder.name,
                      state.cluster.resources().named(each.held.amounts),
                      predicted_end(holder, *each.run, now), growth_of(state, each.run->gang),
                      domains_held(state, gang, *each.run)});
  }
  return result;
}

}  // namespace codeflare::sched
