#include "sched/internal/machine_set.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace codeflare::sched {

namespace {

// Cells of the table that finds the best mix for pods of one kind.
constexpr std::int64_t kMixCellsMax = 200'000;
// Sets beyond are nobody's wish, but somebody's mistake.
constexpr std::size_t kMachinesMax = 10'000;
constexpr std::size_t kMix = std::numeric_limits<std::size_t>::max();

struct Score {
  std::int64_t cost = 0;
  double size = 0;
  friend auto operator<=>(const Score&, const Score&) = default;
};
Score operator+(const Score& a, const Score& b) {
  return {a.cost + b.cost, a.size + b.size};
}

std::int64_t per_machine(const PodsToHold& pods, const OfferedMachine& offer) {
  return times(offer.capacity.data(), *pods.request, pods.one_each ? 1 : pods.count);
}

class SetSearch {
 public:
  SetSearch(const std::vector<PodsToHold>& pods, const std::vector<OfferedMachine>& offers,
            const SetLimits& limits)
      : pods_(pods), offers_(offers), limits_(limits) {}

  MachineSet run(std::uint32_t combinations_max);

 private:
  // Which kinds may be opened for each of the pods, the first choice first.
  bool find_choices();
  void try_combination(const std::vector<std::size_t>& choice);
  bool hold(std::size_t pods, std::size_t choice, std::vector<NewMachine>& machines);
  std::int64_t fill(std::size_t pods, std::int64_t rest, NewMachine& machine) const;
  std::vector<std::size_t> best_mix(std::size_t pods, std::int64_t count) const;
  std::int64_t left_of(std::size_t kind) const {
    return limits_.bounded ? offers_[kind].left - opened_[kind]
                           : std::numeric_limits<std::int64_t>::max();
  }
  void downsize(std::vector<NewMachine>& machines);
  bool may_hold(std::size_t kind, const NewMachine& machine) const;
  // None when so many limited machines are within all limits.
  MachineNeed::Limit beyond(std::int64_t machines, std::int64_t cost) const;

  const std::vector<PodsToHold>& pods_;
  const std::vector<OfferedMachine>& offers_;
  const SetLimits& limits_;
  std::vector<std::vector<std::size_t>> kinds_;  // by pods: usable ones, the cheapest per pod first
  std::vector<std::int64_t> opened_;             // by kind, in this combination
  MachineSet best_;
};

bool SetSearch::find_choices() {
  for (std::size_t i = 0; i < pods_.size(); ++i) {
    std::vector<std::size_t> usable;
    for (std::size_t kind = 0; kind < offers_.size(); ++kind) {
      if (pods_[i].allowed[kind] && per_machine(pods_[i], offers_[kind]) > 0) {
        usable.push_back(kind);
      }
    }
    if (usable.empty()) {
      best_.impossible = i;
      return false;
    }
    const auto price = [&](std::size_t kind) {
      const auto held = static_cast<double>(per_machine(pods_[i], offers_[kind]));
      return std::tuple(static_cast<double>(offers_[kind].cost) / held, offers_[kind].size / held,
                        kind);
    };
    std::ranges::sort(usable, {}, price);
    kinds_.push_back(std::move(usable));
  }
  return true;
}

// Returns how many it took.
std::int64_t SetSearch::fill(std::size_t pods, std::int64_t rest, NewMachine& machine) const {
  const PodsToHold& each = pods_[pods];
  if (!each.allowed[machine.kind]) {
    return 0;
  }
  if (each.apart != 0 && std::ranges::any_of(machine.holds, [&](const auto& held) {
        return pods_[held.first].apart == each.apart;
      })) {
    return 0;
  }
  const std::int64_t count = times(machine.free.data(), *each.request,
                                   each.one_each ? std::min<std::int64_t>(rest, 1) : rest);
  if (count > 0) {
    for (const Part& part : *each.request) {
      machine.free[part.resource] -= part.amount * count;
    }
    machine.holds.emplace_back(pods, count);
  }
  return count;
}

// A bounded knapsack: machines that together hold `count` pods for the least.
std::vector<std::size_t> SetSearch::best_mix(std::size_t pods, std::int64_t count) const {
  struct Item {
    std::size_t kind;
    std::int64_t machines;
    std::int64_t holds;
    Score score;
  };
  std::vector<Item> items;
  for (const std::size_t kind : kinds_[pods]) {
    const std::int64_t each = per_machine(pods_[pods], offers_[kind]);
    std::int64_t most = std::min(left_of(kind), (count + each - 1) / each);
    for (std::int64_t chunk = 1; most > 0; chunk *= 2) {
      const std::int64_t machines = std::min(chunk, most);
      const auto factor = static_cast<double>(machines);
      items.push_back({kind,
                       machines,
                       machines * each,
                       {offers_[kind].cost * machines, offers_[kind].size * factor}});
      most -= machines;
    }
  }
  const auto width = static_cast<std::size_t>(count) + 1;
  if (static_cast<std::int64_t>(items.size() * width) > kMixCellsMax) {
    return {};
  }
  constexpr Score kNever{std::numeric_limits<std::int64_t>::max() / 2, 0};
  std::vector<Score> best(width, kNever);
  best[0] = {};
  std::vector<std::vector<bool>> taken(items.size(), std::vector<bool>(width));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto holds = static_cast<std::size_t>(items[i].holds);
    for (std::size_t pod = width - 1; pod > 0; --pod) {
      const Score with = best[pod - std::min(pod, holds)] + items[i].score;
      if (with.cost < kNever.cost && with < best[pod]) {
        best[pod] = with;
        taken[i][pod] = true;
      }
    }
  }
  std::vector<std::size_t> mix;
  if (best[width - 1].cost >= kNever.cost) {
    return mix;
  }
  std::size_t pod = width - 1;
  for (std::size_t i = items.size(); i-- > 0;) {
    if (taken[i][pod]) {
      mix.insert(mix.end(), static_cast<std::size_t>(items[i].machines), items[i].kind);
      pod -= std::min(pod, static_cast<std::size_t>(items[i].holds));
    }
  }
  return mix;
}

bool SetSearch::hold(std::size_t pods, std::size_t choice, std::vector<NewMachine>& machines) {
  std::int64_t rest = pods_[pods].count;
  for (NewMachine& machine : machines) {
    rest -= rest > 0 ? fill(pods, rest, machine) : 0;
  }
  std::vector<std::size_t> mix;
  if (rest > 0 && choice == kMix) {
    mix = best_mix(pods, rest);
    if (mix.empty()) {
      return false;
    }
  }
  std::size_t next = 0;
  while (rest > 0) {
    std::size_t kind = kMix;
    if (next < mix.size()) {
      kind = mix[next++];
    } else if (choice != kMix && left_of(choice) > 0) {
      kind = choice;
    } else {
      const auto other =
          std::ranges::find_if(kinds_[pods], [&](std::size_t each) { return left_of(each) > 0; });
      if (other == kinds_[pods].end()) {
        if (best_.limit == MachineNeed::Limit::none) {
          best_.limit = MachineNeed::Limit::kind;
          best_.kind = choice == kMix ? kinds_[pods].front() : choice;
        }
        return false;
      }
      kind = *other;
    }
    if (machines.size() >= kMachinesMax) {
      return false;
    }
    ++opened_[kind];
    machines.push_back({kind, offers_[kind].capacity, {}});
    rest -= fill(pods, rest, machines.back());
  }
  return true;
}

bool SetSearch::may_hold(std::size_t kind, const NewMachine& machine) const {
  const OfferedMachine& offer = offers_[kind];
  for (std::size_t r = 0; r < machine.free.size(); ++r) {
    if (offers_[machine.kind].capacity[r] - machine.free[r] > offer.capacity[r]) {
      return false;
    }
  }
  return std::ranges::all_of(machine.holds,
                             [&](const auto& held) { return pods_[held.first].allowed[kind]; });
}

// A machine that is not full may have a cheaper kind.
void SetSearch::downsize(std::vector<NewMachine>& machines) {
  for (NewMachine& machine : machines) {
    std::size_t cheapest = machine.kind;
    const auto score = [&](std::size_t kind) {
      return Score{offers_[kind].cost, offers_[kind].size};
    };
    for (std::size_t kind = 0; kind < offers_.size(); ++kind) {
      if (left_of(kind) > 0 && score(kind) < score(cheapest) && may_hold(kind, machine)) {
        cheapest = kind;
      }
    }
    if (cheapest == machine.kind) {
      continue;
    }
    for (std::size_t r = 0; r < machine.free.size(); ++r) {
      machine.free[r] += offers_[cheapest].capacity[r] - offers_[machine.kind].capacity[r];
    }
    --opened_[machine.kind];
    ++opened_[cheapest];
    machine.kind = cheapest;
  }
}

MachineNeed::Limit SetSearch::beyond(std::int64_t machines, std::int64_t cost) const {
  if (!limits_.bounded) {
    return MachineNeed::Limit::none;
  }
  if (machines > limits_.machines) {
    return MachineNeed::Limit::machines;
  }
  if (cost > limits_.cost) {
    return MachineNeed::Limit::cost;
  }
  return cost > limits_.purse ? MachineNeed::Limit::purse : MachineNeed::Limit::none;
}

void SetSearch::try_combination(const std::vector<std::size_t>& choice) {
  opened_.assign(offers_.size(), 0);
  std::vector<NewMachine> machines;
  for (std::size_t i = 0; i < pods_.size(); ++i) {
    if (!hold(i, choice[i], machines)) {
      return;
    }
  }
  downsize(machines);
  Score score;
  std::int64_t limited = 0;
  std::int64_t limited_cost = 0;
  for (const NewMachine& machine : machines) {
    const OfferedMachine& offer = offers_[machine.kind];
    score = score + Score{offer.cost, offer.size};
    limited += offer.limited ? 1 : 0;
    limited_cost += offer.limited ? offer.cost : 0;
  }
  if (const MachineNeed::Limit limit = beyond(limited, limited_cost);
      limit != MachineNeed::Limit::none) {
    best_.limit = best_.limit == MachineNeed::Limit::none ? limit : best_.limit;
    return;
  }
  const auto count = machines.size();
  if (!best_.found() ||
      std::tuple(score, count) < std::tuple(Score{best_.cost, best_.size}, best_.machines.size())) {
    best_.machines = std::move(machines);
    best_.cost = score.cost;
    best_.size = score.size;
    best_.limited = limited;
    best_.limited_cost = limited_cost;
  }
}

MachineSet SetSearch::run(std::uint32_t combinations_max) {
  if (!find_choices()) {
    return best_;
  }
  // A counter with a digit for each of the pods: first the best mix, then each kind alone.
  std::vector<std::size_t> digits(pods_.size(), 0);
  std::vector<std::size_t> choice(pods_.size());
  for (std::uint32_t tried = 0; tried < combinations_max; ++tried) {
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      choice[i] = digits[i] == 0 ? kMix : kinds_[i][digits[i] - 1];
    }
    try_combination(choice);
    std::size_t place = 0;
    while (place < digits.size() && ++digits[place] > kinds_[place].size()) {
      digits[place++] = 0;
    }
    if (place == digits.size()) {
      break;
    }
  }
  return best_;
}

}  // namespace

MachineSet cheapest_set(const std::vector<PodsToHold>& pods,
                        const std::vector<OfferedMachine>& offers, const SetLimits& limits,
                        std::uint32_t combinations_max) {
  return SetSearch(pods, offers, limits).run(combinations_max);
}

}  // namespace codeflare::sched
