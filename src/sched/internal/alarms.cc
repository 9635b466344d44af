#include "sched/internal/alarms.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.at > b.at; };

}  // namespace

Alarms::KindAlarms& Alarms::of(Index kind) {
  if (kind >= kinds_.size()) {
    kinds_.resize(kind + 1);
  }
  return kinds_[kind];
}

void Alarms::set(Index kind, std::int64_t places, Woken whom) {
  KindAlarms& alarms = of(kind);
  alarms.counted.push_back({alarms.gained + static_cast<std::uint64_t>(places), whom});
  alarms.farthest = std::max(alarms.farthest, alarms.counted.back().at);
  std::push_heap(alarms.counted.begin(), alarms.counted.end(), kLater);
}

void Alarms::set_any(Index kind, Woken whom) {
  of(kind).any.push_back(whom);
}

void Alarms::ring(Index kind, std::int64_t gained, std::vector<Woken>& woken) {
  KindAlarms& alarms = of(kind);
  woken.insert(woken.end(), alarms.any.begin(), alarms.any.end());
  alarms.any.clear();
  alarms.gained += static_cast<std::uint64_t>(std::max<std::int64_t>(gained, 0));
  while (!alarms.counted.empty() && alarms.counted.front().at <= alarms.gained) {
    woken.push_back(alarms.counted.front().whom);
    std::pop_heap(alarms.counted.begin(), alarms.counted.end(), kLater);
    alarms.counted.pop_back();
  }
}

}  // namespace codeflare::sched
