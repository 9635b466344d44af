#include "tests/sched/naive_scheduler.h"

#include <algorithm>
#include <chrono>

namespace codeflare::sched::naive {

namespace {

Amount amount_in(const Resources& resources, const std::string& name) {
  for (const Resource& each : resources) {
    if (each.name == name) {
      return each.amount;
    }
  }
  return 0;
}

bool fits(const Amounts& free, const Resources& requests) {
  return std::all_of(requests.begin(), requests.end(), [&](const Resource& each) {
    const auto found = free.find(each.name);
    return each.amount == 0 || (found != free.end() && found->second >= each.amount);
  });
}

void take(Amounts& free, const Resources& requests, int sign) {
  for (const Resource& each : requests) {
    free[each.name] -= each.amount * sign;
  }
}

const std::string* label(const NodeSpec& node, const std::string& key) {
  for (const auto& [name, value] : node.labels) {
    if (name == key) {
      return &value;
    }
  }
  return nullptr;
}

bool holds(const Requirement& requirement, const NodeSpec& node) {
  const std::string* value = label(node, requirement.key);
  const bool listed =
      value != nullptr && std::find(requirement.values.begin(), requirement.values.end(), *value) !=
                              requirement.values.end();
  switch (requirement.op) {
    case Operator::in:
      return listed;
    case Operator::not_in:
      return !listed;
    case Operator::exists:
      return value != nullptr;
    case Operator::does_not_exist:
      return value == nullptr;
    case Operator::gt:
      return value != nullptr && std::stoll(*value) > std::stoll(requirement.values.at(0));
    case Operator::lt:
      return value != nullptr && std::stoll(*value) < std::stoll(requirement.values.at(0));
  }
  return false;
}

bool tolerated(const Taint& taint, const PodSet& pods) {
  return std::any_of(pods.tolerations.begin(), pods.tolerations.end(), [&](const Toleration& each) {
    if (each.effect && *each.effect != taint.effect) {
      return false;
    }
    if (each.key.empty()) {
      return each.exists;
    }
    return each.key == taint.key && (each.exists || each.value == taint.value);
  });
}

bool allowed(const NodeSpec& node, const PodSet& pods) {
  for (const Taint& taint : node.taints) {
    if (taint.effect != Effect::prefer_no_schedule && !tolerated(taint, pods)) {
      return false;
    }
  }
  const Taint cordon{"node.kubernetes.io/unschedulable", "", Effect::no_schedule};
  if (node.unschedulable && !tolerated(cordon, pods)) {
    return false;
  }
  for (const auto& [key, value] : pods.selector) {
    const std::string* have = label(node, key);
    if (have == nullptr || *have != value) {
      return false;
    }
  }
  return pods.affinity.empty() ||
         std::any_of(pods.affinity.begin(), pods.affinity.end(), [&](const Term& term) {
           return !term.requirements.empty() &&
                  std::all_of(term.requirements.begin(), term.requirements.end(),
                              [&](const Requirement& each) { return holds(each, node); });
         });
}

bool alike(const PodSet& a, const PodSet& b) {
  if (a.apart != 0 || b.apart != 0) {
    return &a == &b;
  }
  return a.requests == b.requests && a.selector == b.selector && a.affinity == b.affinity &&
         a.tolerations == b.tolerations;
}

std::size_t constraint_keys(const PodSet& pods, const Within& within) {
  std::set<std::string> keys(within.keys.begin(), within.keys.end());
  for (const auto& [key, value] : pods.selector) {
    keys.insert(key);
  }
  for (const Term& term : pods.affinity) {
    for (const Requirement& each : term.requirements) {
      keys.insert(each.key);
    }
  }
  return keys.size();
}

}  // namespace

void Scheduler::remove_node(const std::string& name) {
  nodes_.erase(name);
  for (auto& [gang_name, gang] : gangs_) {
    std::erase_if(gang.places, [&](const auto& place) { return place.second == name; });
  }
}

void Scheduler::set_foreign(const std::string& name, const Resources& usage) {
  nodes_[name].foreign.clear();
  for (const Resource& each : usage) {
    nodes_[name].foreign[each.name] = each.amount;
  }
}

void Scheduler::requeue(const std::string& name) {
  gangs_[name].state = GangState::waiting;
  gangs_[name].places.clear();
}

void Scheduler::start(const std::string& name, Places places, Time now) {
  gangs_[name].state = GangState::running;
  gangs_[name].started = now;
  gangs_[name].places = std::move(places);
}

Amounts Scheduler::free_on(const std::string& name) const {
  const Node& node = nodes_.at(name);
  Amounts free;
  for (const Resource& each : node.spec.allocatable) {
    free[each.name] += each.amount;
  }
  for (const auto& [resource, amount] : node.foreign) {
    free[resource] -= amount;
  }
  for (const auto& [gang_name, gang] : gangs_) {
    for (const auto& [set, where] : gang.places) {
      if (where == name) {
        take(free, gang.spec.pod_sets[set].requests, 1);
      }
    }
  }
  return free;
}

std::string Scheduler::overfull_node() const {
  for (const auto& [name, node] : nodes_) {
    for (const auto& [resource, amount] : free_on(name)) {
      if (amount < 0) {
        return name;
      }
    }
  }
  return "";
}

Amounts Scheduler::used_below(const std::string& tree, const std::string& node) const {
  Amounts used;
  const auto& specs = trees_.at(tree);
  const auto parent_of = [&](const std::string& name) -> std::string {
    for (const QuotaNode& each : specs) {
      if (each.name == name) {
        return each.parent;
      }
    }
    return "";
  };
  for (const auto& [gang_name, gang] : gangs_) {
    if (gang.state == GangState::waiting) {
      continue;
    }
    std::string at = "default";
    for (const Designation& each : gang.spec.quota) {
      if (each.tree == tree) {
        at = each.node;
      }
    }
    const bool known = std::any_of(specs.begin(), specs.end(),
                                   [&](const QuotaNode& each) { return each.name == at; });
    // Running work is charged even where its node is gone: to the root.
    if (!known) {
      at = specs.front().name;
    }
    for (; !at.empty(); at = parent_of(at)) {
      if (at != node) {
        continue;
      }
      for (const PodSet& set : gang.spec.pod_sets) {
        for (const Resource& each : set.requests) {
          used[each.name] += each.amount * set.count;
        }
      }
    }
  }
  return used;
}

bool Scheduler::quota_allows(const Gang& gang) const {
  for (const auto& [tree, specs] : trees_) {
    std::string at = "default";
    for (const Designation& each : gang.spec.quota) {
      if (each.tree == tree) {
        at = each.node;
      }
    }
    while (!at.empty()) {
      const auto found = std::find_if(specs.begin(), specs.end(),
                                      [&](const QuotaNode& each) { return each.name == at; });
      if (found == specs.end()) {
        return false;
      }
      if (found->hard || found->parent.empty()) {
        Amounts used = used_below(tree, at);
        for (const Resource& limit : found->limits) {
          Amount asked = 0;
          for (const PodSet& set : gang.spec.pod_sets) {
            asked += amount_in(set.requests, limit.name) * set.count;
          }
          if (asked > 0 && used[limit.name] + asked > limit.amount) {
            return false;
          }
        }
      }
      at = found->parent;
    }
  }
  return true;
}

bool Scheduler::search(const std::vector<std::pair<std::uint32_t, const PodSet*>>& pods,
                       std::size_t next, std::map<std::string, Amounts>& free,
                       Places& places) const {
  if (next == pods.size()) {
    return true;
  }
  const PodSet& pod = *pods[next].second;
  std::vector<std::string> candidates;
  for (const auto& [name, left] : free) {
    const Node& node = nodes_.at(name);
    bool crowded = false;
    for (std::size_t i = 0; i < next; ++i) {
      crowded = crowded ||
                (pod.apart != 0 && pods[i].second->apart == pod.apart && places[i].second == name);
    }
    if (!crowded && allowed(node.spec, pod) && fits(left, pod.requests)) {
      candidates.push_back(name);
    }
  }
  std::sort(candidates.begin(), candidates.end(), [&](const std::string& a, const std::string& b) {
    for (const std::string& resource : options_.pack) {
      const Amount x = free[a][resource];
      const Amount y = free[b][resource];
      if (x != y) {
        return x < y;
      }
    }
    return a < b;
  });
  for (const std::string& name : candidates) {
    take(free[name], pod.requests, 1);
    places.emplace_back(pods[next].first, name);
    if (search(pods, next + 1, free, places)) {
      return true;
    }
    places.pop_back();
    take(free[name], pod.requests, -1);
  }
  return false;
}

std::optional<Places> Scheduler::find_places(const Gang& gang) const {
  std::vector<std::pair<std::uint32_t, const PodSet*>> sets;
  for (std::uint32_t i = 0; i < gang.spec.pod_sets.size(); ++i) {
    sets.emplace_back(i, &gang.spec.pod_sets[i]);
  }
  // Pods that are alike count as one set, where the first of them is listed.
  const auto first_alike = [&](std::uint32_t set) {
    const PodSet& wanted = gang.spec.pod_sets[set];
    std::uint32_t first = 0;
    while (!alike(gang.spec.pod_sets[first], wanted)) {
      ++first;
    }
    return first;
  };
  // Larger in packing order first, then more constrained, then as listed.
  std::sort(sets.begin(), sets.end(), [&](const auto& a, const auto& b) {
    for (const std::string& resource : options_.pack) {
      const Amount x = amount_in(a.second->requests, resource);
      const Amount y = amount_in(b.second->requests, resource);
      if (x != y) {
        return x > y;
      }
    }
    const std::size_t p = constraint_keys(*a.second, gang.spec.within);
    const std::size_t q = constraint_keys(*b.second, gang.spec.within);
    if (p != q) {
      return p > q;
    }
    const std::uint32_t x = first_alike(a.first);
    const std::uint32_t y = first_alike(b.first);
    return x != y ? x < y : a.first < b.first;
  });
  std::vector<std::pair<std::uint32_t, const PodSet*>> pods;
  for (const auto& set : sets) {
    pods.insert(pods.end(), static_cast<std::size_t>(set.second->count), set);
  }
  if (gang.spec.within.keys.empty()) {
    return search_among(pods, nodes_of_domain(gang.spec.within, {}));
  }
  for (const auto& domain : domains(gang.spec.within, *pods.front().second)) {
    if (auto places = search_among(pods, nodes_of_domain(gang.spec.within, domain))) {
      return places;
    }
  }
  return std::nullopt;
}

std::optional<Places> Scheduler::search_among(
    const std::vector<std::pair<std::uint32_t, const PodSet*>>& pods,
    const std::vector<std::string>& nodes) const {
  std::map<std::string, Amounts> free;
  for (const std::string& name : nodes) {
    free[name] = free_on(name);
  }
  Places places;
  if (!search(pods, 0, free, places)) {
    return std::nullopt;
  }
  return places;
}

std::optional<std::vector<std::string>> Scheduler::domain_of(const Within& within,
                                                             const NodeSpec& node) {
  std::vector<std::string> values;
  for (const std::string& key : within.keys) {
    const std::string* value = label(node, key);
    if (value == nullptr) {
      return std::nullopt;
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<std::string> Scheduler::nodes_of_domain(const Within& within,
                                                    const std::vector<std::string>& domain) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : nodes_) {
    if (domain_of(within, node.spec) == domain) {
      names.push_back(name);
    }
  }
  return names;
}

// Preferred ones first, then those with the least free on nodes that its first pod may use.
std::vector<std::vector<std::string>> Scheduler::domains(const Within& within,
                                                         const PodSet& first) const {
  std::map<std::vector<std::string>, std::vector<Amount>> free;
  for (const auto& [name, node] : nodes_) {
    const auto values = domain_of(within, node.spec);
    if (!values || !allowed(node.spec, first)) {
      continue;
    }
    auto& sums = free[*values];
    sums.resize(options_.pack.size());
    Amounts here = free_on(name);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += std::max<Amount>(here[options_.pack[i]], 0);
    }
  }
  const auto tier = [&](const std::vector<std::string>& values) {
    std::size_t at = 0;
    while (at < within.prefer.size() &&
           std::find(within.prefer[at].begin(), within.prefer[at].end(), values.front()) ==
               within.prefer[at].end()) {
      ++at;
    }
    return at;
  };
  std::vector<std::vector<std::string>> order;
  for (const auto& [values, sums] : free) {
    order.push_back(values);
  }
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (tier(a) != tier(b)) {
      return tier(a) < tier(b);
    }
    return free[a] != free[b] ? free[a] < free[b] : a < b;
  });
  return order;
}

std::vector<std::string> Scheduler::line(Time now) const {
  const auto seconds = [](Time time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
  };
  const auto priority = [&](const GangSpec& spec) {
    const double slope = options_.priority_slope ? spec.slope : 0;
    return (spec.priority - slope * seconds(spec.submitted)) + slope * seconds(now);
  };
  std::vector<std::string> names;
  for (const auto& [name, gang] : gangs_) {
    if (gang.state == GangState::waiting && !gang.spec.held) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    const GangSpec& x = gangs_.at(a).spec;
    const GangSpec& y = gangs_.at(b).spec;
    if (priority(x) != priority(y)) {
      return priority(x) > priority(y);
    }
    return x.submitted != y.submitted ? x.submitted < y.submitted : a < b;
  });
  return names;
}

bool Scheduler::could_start(const std::string& name) const {
  const Gang& gang = gangs_.at(name);
  return quota_allows(gang) && find_places(gang).has_value();
}

Decisions Scheduler::step(Time now) {
  Decisions decisions;
  for (const std::string& name : line(now)) {
    Gang& gang = gangs_[name];
    if (!quota_allows(gang)) {
      continue;
    }
    auto places = find_places(gang);
    if (!places) {
      continue;
    }
    gang.state = GangState::running;
    gang.started = now;
    gang.places = *places;
    decisions.admitted[name] = {places->begin(), places->end()};
  }
  return decisions;
}

}  // namespace codeflare::sched::naive
