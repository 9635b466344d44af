#include "sched/internal/gang_table.h"

#include "base/check.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace codeflare::sched {

namespace {

std::size_t hash_of(std::string_view name) {
  return std::hash<std::string_view>{}(name);
}

}  // namespace

// Where the name is, or the empty slot where it would go.
std::size_t GangTable::slot_of(std::string_view name) const {
  const std::size_t mask = by_name_.size() - 1;
  std::size_t slot = hash_of(name) & mask;
  while (by_name_[slot] != kNone && gangs_[by_name_[slot]].name != name) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void GangTable::rehash(std::size_t slots) {
  const std::vector<Index> before = std::exchange(by_name_, std::vector<Index>(slots, kNone));
  for (const Index gang : before) {
    if (gang != kNone) {
      by_name_[slot_of(gangs_[gang].name)] = gang;
    }
  }
}

Index GangTable::find(std::string_view name) const {
  return by_name_.empty() ? kNone : by_name_[slot_of(name)];
}

Index GangTable::checked(GangId id) const {
  const bool known = id.index < gangs_.size() && gangs_[id.index].alive &&
                     gangs_[id.index].generation == id.generation;
  return known ? id.index : kNone;
}

Index GangTable::add(std::string name) {
  if (2 * (count_ + 1) > by_name_.size()) {
    rehash(std::max<std::size_t>(16, by_name_.size() * 2));
  }
  Index gang = 0;
  if (free_gangs_.empty()) {
    gang = static_cast<Index>(gangs_.size());
    gangs_.emplace_back();
  } else {
    gang = free_gangs_.back();
    free_gangs_.pop_back();
  }
  const std::size_t slot = slot_of(name);
  CHECK(by_name_[slot] == kNone, "two gangs of one name");
  by_name_[slot] = gang;
  ++count_;
  const std::uint32_t generation = gangs_[gang].generation;
  gangs_[gang] = Gang{.name = std::move(name), .generation = generation, .alive = true};
  return gang;
}

// Entries behind the hole move up unless they would pass the slot where their name belongs.
void GangTable::erase_name(Index gang) {
  const std::size_t mask = by_name_.size() - 1;
  std::size_t hole = slot_of(gangs_[gang].name);
  for (std::size_t next = (hole + 1) & mask; by_name_[next] != kNone; next = (next + 1) & mask) {
    const std::size_t home = hash_of(gangs_[by_name_[next]].name) & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) {
      continue;
    }
    by_name_[hole] = by_name_[next];
    hole = next;
  }
  by_name_[hole] = kNone;
  --count_;
}

void GangTable::remove(Index gang) {
  erase_name(gang);
  const std::uint32_t generation = gangs_[gang].generation + 1;
  gangs_[gang] = Gang{.generation = generation};
  free_gangs_.push_back(gang);
}

Index GangTable::add_run(Index gang) {
  Index run = 0;
  if (free_runs_.empty()) {
    run = static_cast<Index>(runs_.size());
    runs_.emplace_back();
  } else {
    run = free_runs_.back();
    free_runs_.pop_back();
  }
  runs_[run].gang = gang;
  gangs_[gang].run = run;
  return run;
}

void GangTable::remove_run(Index run) {
  gangs_[runs_[run].gang].run = kNone;
  runs_[run] = Run{};
  free_runs_.push_back(run);
}

std::size_t GangTable::memory_bytes() const {
  std::size_t bytes = gangs_.capacity() * sizeof(Gang) + by_name_.capacity() * sizeof(Index) +
                      runs_.capacity() * sizeof(Run);
  for (const Run& run : runs_) {
    bytes += run.places.capacity() * sizeof(HeldSlot) + run.pods.capacity() * sizeof(BoundPod) +
             run.charge.capacity() * sizeof(Part);
  }
  return bytes;
}

}  // namespace codeflare::sched
