#include "sched/internal/quota_ranks.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

// Only nodes that can be exceeded tell members from borrowers.
bool ranks(const QuotaState& node) {
  return !node.binding() && !node.limits.empty();
}

bool fits_member(const QuotaState& node, const Request& charge) {
  return std::all_of(node.limits.begin(), node.limits.end(), [&](const Part& limit) {
    const Amount more = amount_of(charge, limit.resource);
    return more == 0 || amount_of(node.members, limit.resource) + more <= limit.amount;
  });
}

WeakKey weak_key(const State& state, const Run& run) {
  const Gang& gang = state.gangs[run.gang];
  return {run.over, gang.priority, run.started, gang.name, run.gang};
}

void set_over(State& state, Run& run) {
  run.over = 0;
  for (const Index node : run.borrowed_at) {
    run.over = std::max(run.over, state.forest[node].depth);
  }
}

// The stronger gang is promoted first.
bool stronger(const State& state, Index a, Index b) {
  const Gang& x = state.gangs[a];
  const Gang& y = state.gangs[b];
  if (x.priority != y.priority) {
    return x.priority > y.priority;
  }
  const Time p = state.gangs.run_of(a).started;
  const Time q = state.gangs.run_of(b).started;
  return p != q ? p < q : x.name < y.name;
}

void promote_at(State& state, Index index) {
  QuotaState& node = state.forest[index];
  if (!ranks(node) || node.borrowers.empty()) {
    return;
  }
  std::sort(node.borrowers.begin(), node.borrowers.end(),
            [&](Index a, Index b) { return stronger(state, a, b); });
  std::erase_if(node.borrowers, [&](Index gang) {
    Run& run = state.gangs.run_of(gang);
    if (!fits_member(node, rank_charge(state, run))) {
      return false;
    }
    state.weakest.erase(weak_key(state, run));
    add(node.members, rank_charge(state, run), +1);
    std::erase(run.borrowed_at, index);
    set_over(state, run);
    state.weakest.insert(weak_key(state, run));
    return true;
  });
}

}  // namespace

const Request& rank_charge(const State& state, const Run& run) {
  const Index elastic = state.gangs[run.gang].elastic;
  return elastic == kNone ? run.charge : state.elastics[elastic].ranked;
}

void join_ranks(State& state, Run& run) {
  if (!state.options.preemption) {
    return;
  }
  if (const Gang& gang = state.gangs[run.gang]; gang.elastic != kNone) {
    state.elastics[gang.elastic].ranked = state.shapes[gang.shape].charge;
  }
  run.borrowed_at.clear();
  state.forest.each_on_path(run.leaves, [&](Index index) {
    QuotaState& node = state.forest[index];
    if (!ranks(node)) {
      return;
    }
    if (fits_member(node, rank_charge(state, run))) {
      add(node.members, rank_charge(state, run), +1);
    } else {
      node.borrowers.push_back(run.gang);
      run.borrowed_at.push_back(index);
    }
  });
  set_over(state, run);
  run.ranked = true;
  state.weakest.insert(weak_key(state, run));
}

void leave_ranks(State& state, Run& run) {
  if (!run.ranked) {
    return;
  }
  state.weakest.erase(weak_key(state, run));
  state.forest.each_on_path(run.leaves, [&](Index index) {
    QuotaState& node = state.forest[index];
    if (!ranks(node)) {
      return;
    }
    const auto borrowed = std::find(run.borrowed_at.begin(), run.borrowed_at.end(), index);
    if (borrowed == run.borrowed_at.end()) {
      add(node.members, rank_charge(state, run), -1);
    } else {
      std::erase(node.borrowers, run.gang);
    }
  });
  run.borrowed_at.clear();
  run.over = 0;
  run.ranked = false;
}

void set_started(State& state, Run& run, Time started) {
  if (run.ranked) {
    state.weakest.erase(weak_key(state, run));
  }
  run.started = started;
  if (run.ranked) {
    state.weakest.insert(weak_key(state, run));
  }
}

void set_priority(State& state, Index gang, std::int32_t priority) {
  const Index run = state.gangs[gang].run;
  const bool ranked = run != kNone && state.gangs.run(run).ranked;
  if (ranked) {
    state.weakest.erase(weak_key(state, state.gangs.run(run)));
  }
  state.gangs[gang].priority = priority;
  if (ranked) {
    state.weakest.insert(weak_key(state, state.gangs.run(run)));
  }
}

void promote(State& state, const std::vector<Index>& leaves) {
  if (!state.options.preemption) {
    return;
  }
  state.forest.each_on_path(leaves, [&](Index index) { promote_at(state, index); });
}

void rank_all(State& state) {
  if (!state.options.preemption) {
    return;
  }
  state.weakest.clear();
  std::vector<Index> gangs;
  for (Index gang = 0; gang < state.gangs.all().size(); ++gang) {
    const Gang& each = state.gangs[gang];
    if (each.alive && each.run != kNone && each.state != GangState::draining) {
      gangs.push_back(gang);
    }
  }
  std::sort(gangs.begin(), gangs.end(), [&](Index a, Index b) { return stronger(state, a, b); });
  for (const Index gang : gangs) {
    join_ranks(state, state.gangs.run_of(gang));
  }
}

Index over_if_joined(const State& state, const std::vector<Index>& leaves, const Request& charge) {
  Index over = 0;
  state.forest.each_on_path(leaves, [&](Index index) {
    const QuotaState& node = state.forest[index];
    if (ranks(node) && !fits_member(node, charge)) {
      over = std::max(over, node.depth);
    }
  });
  return over;
}

}  // namespace codeflare::sched
