#include "sched/internal/domains.h"
#include "sched/internal/holdings.h"
#include "sched/internal/order.h"
#include "sched/internal/placement.h"
#include "sched/internal/questions.h"
#include "sched/taints.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace codeflare::sched {

namespace {

// More are counted than anybody reads the names of.
constexpr std::size_t kAwaitedMax = 1000;
// Of the nodes that one constraint excludes.
constexpr std::size_t kNodesNamed = 3;

bool in_classes(const Cluster& cluster, const Kind& kind, Index node) {
  const auto& classes = kind.classes;
  return std::find(classes.begin(), classes.end(), cluster.nodes()[node].node_class) !=
             classes.end() &&
         cluster.allows(kind, node);
}

std::string class_text(const NodeClass& node_class) {
  std::string text;
  for (const auto& [key, value] : node_class.labels) {
    text.append(text.empty() ? "" : ",").append(key).append("=").append(value);
  }
  for (const Taint& taint : node_class.taints) {
    text.append(text.empty() ? "" : ",").append("taint ").append(taint.key);
  }
  return text.empty() ? "all nodes" : text;
}

void count_excluded(const Cluster& cluster, const Kind& kind, Index index, Exclusion& exclusion) {
  const Node& node = cluster.nodes()[index];
  if (exclusion.nodes++ == 0) {
    const Taint* taint = untolerated(kind.constraint, node.taints);
    exclusion.taint = taint == nullptr ? std::nullopt : std::optional(*taint);
  }
  if (exclusion.names.size() < kNodesNamed) {
    exclusion.names.push_back(node.name);
  }
}

// Nodes and exclusions of one kind, class by class where classes decide.
void count_nodes(const Cluster& cluster, const Kind& kind, PodSetReport& report) {
  std::map<std::string, Exclusion> excluded;
  for (Index node = 0; node < cluster.nodes().size(); ++node) {
    if (!cluster.nodes()[node].alive) {
      continue;
    }
    ++report.nodes_all;
    if (in_classes(cluster, kind, node)) {
      ++report.nodes_allowed;
    } else {
      count_excluded(cluster, kind, node, excluded[cluster.exclusion(kind, node)]);
    }
  }
  for (auto& [constraint, exclusion] : excluded) {
    exclusion.constraint = constraint;
    report.excluded.push_back(std::move(exclusion));
  }
  std::sort(report.excluded.begin(), report.excluded.end(),
            [](const Exclusion& a, const Exclusion& b) {
              return a.nodes != b.nodes ? a.nodes > b.nodes : a.constraint < b.constraint;
            });
}

void find_best_class(const Cluster& cluster, const Kind& kind, PodSetReport& report) {
  for (const Index index : kind.classes) {
    Kind alone = kind;
    alone.classes = {index};
    const std::int64_t found = places(cluster, alone, nullptr, report.wanted);
    const std::string text = class_text(cluster.node_class(index));
    const bool better = report.best_class.empty() || found > report.best_class_places ||
                        (found == report.best_class_places && text < report.best_class);
    if (!better) {
      continue;
    }
    report.best_class = text;
    report.best_class_places = found;
  }
}

std::vector<PodSetReport> report_pod_sets(const State& state, const Shape& shape,
                                          const Domain* domain) {
  std::vector<PodSetReport> reports;
  for (std::uint32_t i = 0; i < shape.sets.size(); ++i) {
    const Kind& kind = state.cluster.kind(shape.sets[i].kind);
    PodSetReport report{.pod_set = i, .wanted = shape.sets[i].count};
    report.apart = kind.constraint.apart;
    report.places = places(state.cluster, kind, nullptr, report.wanted,
                           domain == nullptr ? Scope{} : scope_of(*domain));
    count_nodes(state.cluster, kind, report);
    find_best_class(state.cluster, kind, report);
    reports.push_back(std::move(report));
  }
  return reports;
}

Shortage report_resource(const State& state, const Shape& shape, const Part& wanted,
                         const Domain* domain) {
  const Cluster& cluster = state.cluster;
  Shortage report{.resource = cluster.resources().name(wanted.resource),
                  .requested = wanted.amount};
  for (const Group& group : shape.groups) {
    report.pod = std::max(report.pod, amount_of(cluster.kind(group.kind).request, wanted.resource));
  }
  for (Index node = 0; node < cluster.nodes().size(); ++node) {
    if (!cluster.nodes()[node].alive) {
      continue;
    }
    const bool allowed =
        std::any_of(shape.groups.begin(), shape.groups.end(), [&](const Group& group) {
          const Kind& kind = cluster.kind(group.kind);
          return amount_of(kind.request, wanted.resource) > 0 && in_classes(cluster, kind, node) &&
                 (domain == nullptr || cluster.domain_of(kind, node) == domain->values);
        });
    if (!allowed) {
      continue;
    }
    const Amount free = std::max<Amount>(cluster.free(node)[wanted.resource], 0);
    report.free += free;
    report.capacity += cluster.allocatable(node)[wanted.resource];
    report.best_node = std::max(report.best_node, free);
    report.largest_node = std::max(report.largest_node, cluster.potential(node, wanted.resource));
  }
  return report;
}

std::vector<Shortage> report_resources(const State& state, const Shape& shape,
                                       const Domain* domain) {
  std::vector<Shortage> reports;
  for (const Part& wanted : shape.total) {
    reports.push_back(report_resource(state, shape, wanted, domain));
  }
  return reports;
}

DomainReport report_domain(const State& state, const Shape& shape, const Domain& domain) {
  DomainReport report{.name = domain_text(state.cluster, domain.values),
                      .shortages = report_resources(state, shape, &domain),
                      .wanted = shape.pods};
  for (const Group& group : shape.groups) {
    report.places += places(state.cluster, state.cluster.kind(group.kind), nullptr, group.count,
                            scope_of(domain));
  }
  for (Index node = 0; node < state.cluster.nodes().size(); ++node) {
    const bool usable =
        state.cluster.nodes()[node].alive &&
        std::any_of(shape.groups.begin(), shape.groups.end(), [&](const Group& g) {
          return in_domain(state.cluster, state.cluster.kind(g.kind), domain.values, node);
        });
    report.nodes += usable ? 1 : 0;
  }
  return report;
}

// More domains than anybody reads of: the rest is left out.
constexpr std::size_t kDomainsMax = 32;

// The numbers of the gang: of the nearest domain, if it has to stay within one.
void report_places(const State& state, const Shape& shape, Explanation& answer) {
  std::vector<std::pair<Domain, DomainReport>> reports;
  if (!shape.within.keys.empty()) {
    answer.within = shape.within.keys.front();
    for (std::size_t i = 1; i < shape.within.keys.size(); ++i) {
      answer.within += "/" + shape.within.keys[i];
    }
    std::vector<Domain> domains = domains_of(state.cluster, shape);
    domains.resize(std::min(domains.size(), kDomainsMax));
    for (Domain& domain : domains) {
      DomainReport report = report_domain(state, shape, domain);
      reports.emplace_back(std::move(domain), std::move(report));
    }
    // Insertion keeps the order of equals.
    for (auto each = reports.begin(); each != reports.end(); ++each) {
      const auto at = std::upper_bound(
          reports.begin(), each, *each,
          [](const auto& a, const auto& b) { return a.second.places > b.second.places; });
      std::rotate(at, each, each + 1);
    }
  }
  const Domain* nearest = reports.empty() ? nullptr : &reports.front().first;
  answer.pod_sets = report_pod_sets(state, shape, nearest);
  answer.shortages = report_resources(state, shape, nearest);
  for (auto& [domain, report] : reports) {
    answer.domains.push_back(std::move(report));
  }
}

std::vector<QuotaReport> reports_of(const State& state,
                                    const std::vector<QuotaShortage>& shortages) {
  std::vector<QuotaReport> reports;
  for (const QuotaShortage& shortage : shortages) {
    const QuotaState& node = state.forest[shortage.node];
    reports.push_back({.tree = node.tree,
                       .node = node.name,
                       .problem = {},
                       .choices = {},
                       .full = {},
                       .resource = state.cluster.resources().name(shortage.resource),
                       .limit = shortage.limit,
                       .used = shortage.used,
                       .requested = shortage.requested});
  }
  return reports;
}

// The nodes of `open` in which the charge has room now, or those in which it has none.
std::vector<std::string> by_room(const State& state, const std::string& tree,
                                 const std::vector<std::string>& open, const Request& charge,
                                 bool room) {
  std::vector<std::string> names;
  std::ranges::copy_if(open, std::back_inserter(names), [&](const std::string& name) {
    const Index node = state.forest.find(tree, name);
    return state.forest.shortage({node}, charge).has_value() != room;
  });
  return names;
}

std::vector<QuotaReport> report_quota(const State& state, const Gang& gang, const Shape& shape) {
  const QuotaPath& path = state.claims.path_of(gang.claim);
  const std::string& ns = state.claims[gang.claim].asked.ns;
  if (!path.problem.empty()) {
    std::vector<std::string> open = state.forest.open_to(path.tree, ns);
    std::vector<std::string> full = by_room(state, path.tree, open, shape.charge, false);
    return {{.tree = path.tree,
             .node = path.node,
             .problem = path.problem,
             .choices = std::move(open),
             .full = std::move(full)}};
  }
  std::vector<QuotaReport> reports =
      reports_of(state, state.forest.shortages(path.leaves, shape.charge));
  for (QuotaReport& report : reports) {
    report.choices =
        by_room(state, report.tree, state.forest.open_to(report.tree, ns), shape.charge, true);
  }
  return reports;
}

// Lifts every gang: where would it be then? Nothing is taken.
Placed place_without_gangs(State& state, const Shape& shape) {
  for (const Run& run : state.gangs.runs()) {
    if (run.gang != kNone) {
      lift(state, run);
    }
  }
  Placed placed = place(state.cluster, shape, nullptr, state.options.search_steps_max);
  if (placed.ok()) {
    unplace(state.cluster, shape, nullptr, placed.shares);
  }
  for (const Run& run : state.gangs.runs()) {
    if (run.gang != kNone) {
      restore(state, run);
    }
  }
  return placed;
}

bool is_cordoned(const Node& node) {
  return node.alive && std::ranges::find(node.taints, cordon()) != node.taints.end();
}

// The same pods with one more toleration. Its kinds are the caller's to release.
Shape tolerating(Cluster& cluster, const Shape& shape, const Toleration& more) {
  Shape open = shape;
  for (Group& group : open.groups) {
    const Request request = cluster.kind(group.kind).request;
    Constraint constraint = cluster.kind(group.kind).constraint;
    constraint.tolerations.push_back(more);
    group.kind = cluster.acquire_kind(request, constraint);
  }
  return open;
}

// An excluded node on which it would fit, and the taints that keep its pods away.
using Opened = std::map<std::string, std::vector<Taint>>;

void add_opened(const Cluster& cluster, const Kind& kind, Index index, Opened& opened) {
  const Node& node = cluster.nodes()[index];
  std::vector<Taint>& taints = opened[node.name];
  for (const Taint& taint : node.taints) {
    if (keeps_away(kind.constraint, taint) && std::ranges::find(taints, taint) == taints.end()) {
      taints.push_back(taint);
    }
  }
}

// Excluded nodes on which it would fit, with others, without any gang, if its pods had this
// toleration too; empty if they do not help.
Opened opened_by(State& state, const Shape& shape, const Toleration& more) {
  Cluster& cluster = state.cluster;
  const Shape open = tolerating(cluster, shape, more);
  const Placed placed = place_without_gangs(state, open);
  Opened opened;
  for (const Share& share : placed.shares) {
    const Kind& kind = cluster.kind(shape.groups[share.group].kind);
    if (!in_classes(cluster, kind, share.node)) {
      add_opened(cluster, kind, share.node, opened);
    }
  }
  for (const Group& group : open.groups) {
    cluster.release_kind(group.kind);
  }
  return opened;
}

// Nodes that would let it fit: those that are only cordoned, else those with taints of any kind.
void report_opened(State& state, const Shape& shape, Explanation& answer) {
  if (std::ranges::any_of(state.cluster.nodes(), is_cordoned)) {
    const Taint taint = cordon();
    for (auto& [name, taints] :
         opened_by(state, shape,
                   {.key = taint.key, .exists = true, .value = {}, .effect = taint.effect})) {
      answer.cordoned.push_back(name);
    }
  }
  const auto tainted = [](const Node& node) { return node.alive && !node.taints.empty(); };
  if (answer.cordoned.empty() && std::ranges::any_of(state.cluster.nodes(), tainted)) {
    for (auto& [name, taints] :
         opened_by(state, shape, {.key = {}, .exists = true, .value = {}, .effect = {}})) {
      answer.tainted.push_back({name, taints});
    }
  }
}

std::int64_t position_of(const State& state, Index gang, Time now) {
  if (state.gangs[gang].lane == kNone) {
    return 0;
  }
  std::int64_t before = 0;
  for (const Lane& lane : state.lanes.all()) {
    for (const Index other : lane.heap) {
      if (ahead(state.gangs[other], state.gangs[gang], now)) {
        ++before;
      }
    }
  }
  return before + 1;
}

}  // namespace

Reason why_of(const State& state, Index gang) {
  const Gang& each = state.gangs[gang];
  if (each.state == GangState::nominated) {
    return Reason::preempting;
  }
  if (each.state != GangState::waiting) {
    return Reason::none;
  }
  if (each.lane == kNone) {
    return Reason::held;
  }
  return state.lanes[each.lane].ready ? Reason::none : state.lanes[each.lane].why;
}

std::vector<Index> line_of(const State& state, Time now, std::size_t most) {
  std::vector<Index> line;
  for (const Lane& lane : state.lanes.all()) {
    line.insert(line.end(), lane.heap.begin(), lane.heap.end());
  }
  const auto before = [&](Index a, Index b) { return ahead(state.gangs[a], state.gangs[b], now); };
  most = std::min(most, line.size());
  std::partial_sort(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(most), line.end(),
                    before);
  line.resize(most);
  return line;
}

std::optional<ReservationReport> reservation_report(const State& state) {
  if (!state.reservation) {
    return std::nullopt;
  }
  return ReservationReport{state.gangs[state.reservation->gang].name, state.reservation->starts,
                           state.reservation->since + state.options.holding_time};
}

Explanation explain(State& state, Index gang, Time now, Detail detail) {
  const Gang& asked = state.gangs[gang];
  const Shape& shape = state.shapes[asked.shape];
  Explanation answer{.name = asked.name, .state = asked.state, .why = why_of(state, gang)};
  if (detail == Detail::full) {
    answer.position = position_of(state, gang, now);
  }
  if (asked.state == GangState::nominated) {
    answer.quota = reports_of(state, quota_beyond(state, state.gangs.run_of(gang)));
    answer.awaited = holders(state, gang, now, kAwaitedMax);
  }
  if (asked.state != GangState::waiting) {
    return answer;
  }
  report_places(state, shape, answer);
  answer.quota = report_quota(state, asked, shape);
  answer.search_cut_short = answer.why == Reason::fragmented && shape.cut_short;
  if (detail == Detail::full &&
      (answer.why == Reason::insufficient_resources || answer.why == Reason::fragmented)) {
    answer.never_fits = !place_without_gangs(state, shape).ok();
  }
  if (detail == Detail::full && (answer.never_fits || answer.why == Reason::no_node_allowed)) {
    report_opened(state, shape, answer);
  }
  if (answer.why == Reason::reserved) {
    answer.reservation = reservation_report(state);
  }
  return answer;
}

}  // namespace codeflare::sched
