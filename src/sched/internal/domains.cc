#include "sched/internal/domains.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace codeflare::sched {

namespace {

std::size_t tier_of(const Cluster& cluster, const Shape& shape, const DomainValues& values) {
  const auto& tiers = shape.within.prefer;
  if (tiers.empty()) {
    return 0;
  }
  const std::string& value = cluster.label_text(values.front());
  for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
    if (std::find(tiers[tier].begin(), tiers[tier].end(), value) != tiers[tier].end()) {
      return tier;
    }
  }
  return tiers.size();
}

bool is_home(const Shape& shape, const DomainValues& values) {
  return !shape.home || *shape.home == values;
}

bool usable(const Cluster& cluster, const Kind& kind, Index node) {
  const auto& classes = kind.classes;
  return std::find(classes.begin(), classes.end(), cluster.nodes()[node].node_class) !=
             classes.end() &&
         cluster.allows(kind, node);
}

// A wide key tells too many nodes apart for classes: one look at every node.
std::vector<Domain> domains_by_node(const Cluster& cluster, const Shape& shape) {
  std::map<DomainValues, Domain> found;
  const Index pack = cluster.resources().pack_size();
  const Kind& first = cluster.kind(shape.groups.front().kind);
  for (Index node = 0; node < cluster.nodes().size(); ++node) {
    const auto allows = [&](const Group& group) {
      return usable(cluster, cluster.kind(group.kind), node);
    };
    if (!cluster.nodes()[node].alive ||
        std::none_of(shape.groups.begin(), shape.groups.end(), allows)) {
      continue;
    }
    DomainValues values = cluster.domain_of(first, node);
    if (!is_home(shape, values)) {
      continue;
    }
    Domain& domain = found[values];
    domain.values = std::move(values);
    domain.nodes.push_back(node);
    domain.free_sum.resize(pack);
    for (Index r = 0; usable(cluster, first, node) && r < pack; ++r) {
      domain.free_sum[r] += std::max<Amount>(cluster.free(node)[r], 0);
    }
  }
  std::vector<Domain> domains;
  for (auto& [values, domain] : found) {
    domains.push_back(std::move(domain));
  }
  return domains;
}

std::vector<Domain> domains_by_class(const Cluster& cluster, const Shape& shape, const Kind& kind) {
  std::vector<Domain> domains;
  const Index pack = cluster.resources().pack_size();
  for (const KindDomain& each : kind.domains) {
    if (!is_home(shape, each.values)) {
      continue;
    }
    Domain domain{.values = each.values, .free_sum = std::vector<Amount>(pack)};
    for (const Index index : each.classes) {
      for (Index r = 0; r < pack; ++r) {
        domain.free_sum[r] += cluster.node_class(index).free_sum[r];
      }
    }
    domains.push_back(std::move(domain));
  }
  return domains;
}

// How the domains failed, as one failure: places that are surely missing, if they all miss the
// same.
void merge(std::optional<Placed>& all, Placed failed) {
  if (!all) {
    all = std::move(failed);
    return;
  }
  all->cut_short = all->cut_short || failed.cut_short;
  const bool alike = all->outcome == failed.outcome && all->group == failed.group;
  if (all->outcome == Placed::Outcome::short_of_places && alike) {
    all->missing = std::min(all->missing, failed.missing);
    return;
  }
  all->outcome = Placed::Outcome::not_together;
  all->group = 0;
  all->missing = 0;
}

}  // namespace

std::vector<Domain> domains_of(const Cluster& cluster, const Shape& shape) {
  if (shape.groups.empty()) {
    return {};
  }
  const Kind& kind = cluster.kind(shape.groups.front().kind);
  std::vector<Domain> domains =
      kind.open_domains ? domains_by_node(cluster, shape) : domains_by_class(cluster, shape, kind);
  for (Domain& domain : domains) {
    domain.tier = tier_of(cluster, shape, domain.values);
  }
  std::sort(domains.begin(), domains.end(), [&](const Domain& a, const Domain& b) {
    if (a.tier != b.tier) {
      return a.tier < b.tier;
    }
    if (a.free_sum != b.free_sum) {
      return a.free_sum < b.free_sum;
    }
    return domain_text(cluster, a.values) < domain_text(cluster, b.values);
  });
  return domains;
}

Scope scope_of(const Domain& domain) {
  return {.domain = &domain.values, .nodes = domain.nodes.empty() ? nullptr : &domain.nodes};
}

std::string domain_text(const Cluster& cluster, const DomainValues& values) {
  std::string text;
  for (const Index value : values) {
    text.append(text.empty() ? "" : "/").append(cluster.label_text(value));
  }
  return text;
}

bool in_domain(const Cluster& cluster, const Kind& kind, const DomainValues& values, Index node) {
  return usable(cluster, kind, node) && cluster.domain_of(kind, node) == values;
}

Placed place(Cluster& cluster, const Shape& shape, Overlay* overlay, std::uint32_t steps_max) {
  if (shape.within.keys.empty() || shape.groups.empty()) {
    return place_in(cluster, shape, {}, overlay, steps_max);
  }
  std::optional<Placed> failure;
  for (const Domain& domain : domains_of(cluster, shape)) {
    Placed placed = place_in(cluster, shape, scope_of(domain), overlay, steps_max);
    if (placed.ok()) {
      return placed;
    }
    merge(failure, std::move(placed));
  }
  if (!failure) {
    failure =
        Placed{.outcome = Placed::Outcome::short_of_places, .missing = shape.groups.front().count};
  }
  return *failure;
}

}  // namespace codeflare::sched
