#include "sched/internal/holdings.h"
#include "sched/internal/questions.h"

#include <algorithm>
#include <optional>

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
    if (!state.cluster.nodes()[node].alive || !may_use(state, shape, node)) continue;
    sum += std::max<Amount>(0, state.cluster.free(node)[resource]);
  }
  return sum;
}

// What it lacks most visibly: the first resource that is short in sum, else the first of all.
Index short_resource(const State& state, const Shape& shape) {
  for (const Part& part : shape.total) {
    if (free_for(state, shape, part.resource) < part.amount) return part.resource;
  }
  return shape.total.empty() ? kNone : shape.total.front().resource;
}

Request held_on_nodes(const State& state, const Shape& shape, const Run& run) {
  Request held;
  each_holding(state, run, [&](Index node, const Request& request, std::int64_t count) {
    if (!may_use(state, shape, node)) return;
    for (const Part& part : request) {
      if (amount_of(shape.total, part.resource) > 0) add(held, {part}, count);
    }
  });
  return held;
}

Request held_of_quota(const State& state, const QuotaShortage& shortage, const Run& run) {
  bool charges = false;
  state.forest.each_on_path(run.leaves,
                            [&](Index node) { charges = charges || node == shortage.node; });
  const Amount amount = charges ? amount_of(run.charge, shortage.resource) : 0;
  return amount > 0 ? Request{{shortage.resource, amount}} : Request{};
}

}  // namespace

std::vector<Holder> holders(const State& state, Index gang, Time now, std::size_t most) {
  const Gang& asked = state.gangs[gang];
  const Shape& shape = state.shapes[asked.shape];
  const QuotaPath& path = state.claims.path_of(asked.claim);
  const auto shortage = state.forest.shortage(path.leaves, shape.charge);
  const Index resource = shortage ? shortage->resource : short_resource(state, shape);
  struct Entry {
    Amount amount;
    const Run* run;
    Request held;
  };
  std::vector<Entry> found;
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone || run.gang == gang) continue;
    Request held =
        shortage ? held_of_quota(state, *shortage, run) : held_on_nodes(state, shape, run);
    const Amount amount = amount_of(held, resource);
    if (amount > 0) found.push_back({amount, &run, std::move(held)});
  }
  std::sort(found.begin(), found.end(), [&](const Entry& a, const Entry& b) {
    if (a.amount != b.amount) return a.amount > b.amount;
    return state.gangs[a.run->gang].name < state.gangs[b.run->gang].name;
  });
  if (found.size() > most) found.resize(most);
  std::vector<Holder> result;
  for (const Entry& each : found) {
    const Gang& holder = state.gangs[each.run->gang];
    result.push_back({state.gangs.id(each.run->gang), holder.name,
                      state.cluster.resources().named(each.held),
                      predicted_end(holder, *each.run, now)});
  }
  return result;
}

}  // namespace codeflare::sched
