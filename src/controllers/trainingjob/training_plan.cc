#include "controllers/trainingjob/training_plan.h"

#include "controllers/trainingjob/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

using model::TrainingMembership;
using model::TrainingPlace;
using model::TrainingPlan;

struct Candidate {
  std::int64_t index = 0;
  std::string node{};
  const WorkerPod* pod = nullptr;
};

// The first is kept first.
bool is_kept_before(const Candidate& a, const Candidate& b, bool keep_first) {
  const auto rank = [&](const Candidate& each) {
    const WorkerPod* pod = each.pod;
    const bool first = keep_first && each.index == 0;
    const bool ended_well = pod != nullptr && pod->phase == Phase::succeeded;
    const bool runs = pod != nullptr && !pod->node.empty();
    const bool ready = pod != nullptr && pod->ready;
    return std::tuple(!first, !ended_well, !runs, !ready,
                      pod == nullptr ? WallTime::max() : pod->created, each.index);
  };
  return rank(a) < rank(b);
}

// Every worker that the plan had, where it really is.
std::vector<Candidate> candidates(const std::optional<TrainingPlan>& before,
                                  const std::vector<WorkerPod>& pods) {
  std::map<std::int64_t, const WorkerPod*> by_index;
  for (const WorkerPod& pod : pods) {
    if (pod.index >= 0 && !pod.deleting) {
      by_index[pod.index] = &pod;
    }
  }
  std::vector<Candidate> found;
  if (!before) {
    return found;
  }
  for (const TrainingPlace& place : before->places) {
    const auto at = by_index.find(place.index);
    const WorkerPod* pod = at == by_index.end() ? nullptr : at->second;
    found.push_back(
        {place.index, pod != nullptr && !pod->node.empty() ? pod->node : place.node, pod});
  }
  return found;
}

std::set<std::int64_t> leaving_still(const std::optional<TrainingPlan>& before,
                                     const std::vector<WorkerPod>& pods) {
  std::set<std::int64_t> result;
  if (!before) {
    return result;
  }
  for (const std::int64_t index : before->leaving) {
    if (std::ranges::any_of(pods, [&](const WorkerPod& pod) { return pod.index == index; })) {
      result.insert(index);
    }
  }
  return result;
}

}  // namespace

TrainingPlan next_plan(const std::optional<TrainingPlan>& before,
                       const std::vector<model::PlannedPlace>& places,
                       const std::vector<WorkerPod>& pods, bool keep_first) {
  std::map<std::string, std::int64_t> room;
  for (const model::PlannedPlace& place : places) {
    room[place.node] += place.count;
  }
  std::vector<Candidate> workers = candidates(before, pods);
  std::ranges::sort(workers, [&](const Candidate& a, const Candidate& b) {
    return is_kept_before(a, b, keep_first);
  });
  std::map<std::int64_t, std::string> kept;
  std::vector<const Candidate*> unplaced;
  for (const Candidate& each : workers) {
    std::int64_t& left = room[each.node];
    if (left > 0) {
      --left;
      kept.emplace(each.index, each.node);
    } else {
      unplaced.push_back(&each);
    }
  }
  std::set<std::int64_t> leaving = leaving_still(before, pods);
  std::string node_found;
  const auto free_node = [&]() -> const std::string* {
    node_found.clear();
    for (auto& [name, left] : room) {
      if (left > 0) {
        --left;
        node_found = name;
        return &node_found;
      }
    }
    return nullptr;
  };
  // A worker without a node may be anywhere; one that has a node has to go with its place.
  for (const Candidate* each : unplaced) {
    const bool bound = each->pod != nullptr && !each->pod->node.empty() && !each->pod->over();
    const std::string* node = bound ? nullptr : free_node();
    if (node != nullptr) {
      kept.emplace(each->index, *node);
    } else if (each->pod != nullptr) {
      leaving.insert(each->index);
    }
  }
  for (std::int64_t index = 0;; ++index) {
    if (kept.contains(index) || leaving.contains(index)) {
      continue;
    }
    const std::string* node = free_node();
    if (node == nullptr) {
      break;
    }
    kept.emplace(index, *node);
  }
  TrainingPlan plan = before.value_or(TrainingPlan{});
  plan.places.clear();
  plan.leaving.clear();
  for (const auto& [index, node] : kept) {
    plan.places.push_back({.index = index, .node = node});
  }
  for (const std::int64_t index : leaving) {
    plan.leaving.push_back(index);
  }
  if (!before || plan != *before) {
    ++plan.generation;
  }
  return plan;
}

std::optional<TrainingMembership> next_membership(const std::optional<TrainingMembership>& before,
                                                  const std::vector<MemberFacts>& workers,
                                                  Course course) {
  TrainingMembership next;
  if (course == Course::train) {
    for (const MemberFacts& worker : workers) {
      if (worker.ready) {
        next.members.push_back({.index = worker.index, .pod = worker.pod});
      }
    }
  }
  if (course == Course::finish && before) {
    next.members = before->members;
  }
  const bool had_any = before && !before->members.empty();
  if (next.members.empty() && !had_any) {
    return before;  // nobody trains, as before
  }
  const bool finished = before && before->reason == change::kFinish;
  if (finished || (before && before->members == next.members && course != Course::finish)) {
    return before;
  }
  const auto all_in = [](const auto& some, const auto& others) {
    return std::ranges::all_of(some, [&](const model::TrainingMember& each) {
      return std::ranges::find(others, each) != others.end();
    });
  };
  next.generation = before ? before->generation + 1 : 1;
  next.reason = course == Course::finish                ? change::kFinish
                : next.members.empty()                  ? change::kPause
                : !had_any                              ? change::kStart
                : all_in(before->members, next.members) ? change::kGrow
                : all_in(next.members, before->members) ? change::kShrink
                                                        : change::kReplace;
  return next;
}

}  // namespace codeflare::controllers::trainingjob
