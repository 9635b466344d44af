#include "cli/views/quota_view.h"
#include "queue/demand.h"
#include "queue/resources.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace codeflare::cli {

namespace {

using model::Quantity;
using model::ResourceList;

constexpr std::string_view kDefaultNode = "default";

struct Node {
  QuotaNodeView view;
  ResourceList limits;
  ResourceList used;
  ResourceList waiting;
  std::vector<std::size_t> below;
};

// The nodes of one tree; `parents` come from the names, so a node without its parent is a root.
struct Tree {
  std::vector<Node> nodes;
  std::map<std::string, std::size_t> by_name;
  std::set<std::string> resources;  // that a node limits

  void link() {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto parent = by_name.find(nodes[i].view.parent);
      if (parent != by_name.end() && parent->second != i) {
        nodes[parent->second].below.push_back(i);
      }
    }
  }
  // Calls visit(node) for it and all above it; a circle ends it.
  template <typename Visit>
  void each_above(std::size_t at, const Visit& visit) {
    std::set<std::size_t> seen;
    while (seen.insert(at).second) {
      visit(nodes[at]);
      const auto parent = by_name.find(nodes[at].view.parent);
      if (parent == by_name.end()) {
        return;
      }
      at = parent->second;
    }
  }
};

using Trees = std::map<std::string, Tree>;

void add_subtree(Trees& trees, const model::QuotaSubtree& subtree) {
  const std::string name(model::find_or_empty(subtree.metadata.labels, model::kQuotaTreeLabel));
  Tree& tree = trees[name];
  for (std::size_t i = 0; i < subtree.spec.children.size(); ++i) {
    const model::QuotaChild& child = subtree.spec.children[i];
    if (!tree.by_name.emplace(child.name, tree.nodes.size()).second) {
      continue;  // the status of the younger object reports the problem
    }
    Node node{.view = {.tree = name,
                       .name = child.name,
                       .parent = subtree.spec.parent,
                       .ns = child.ns,
                       .hard = child.quotas.hard_limit && !child.quotas.disabled}};
    if (!child.quotas.disabled) {
      node.limits = child.quotas.requests;
    }
    if (i < subtree.status.children.size() && subtree.status.children[i].name == child.name) {
      node.view.reported = true;
      node.view.problem = subtree.status.children[i].problem;
      node.used = subtree.status.children[i].allocated;
    }
    for (const auto& [resource, limit] : node.limits) {
      tree.resources.insert(resource);
    }
    tree.nodes.push_back(std::move(node));
  }
}

// The sum of the charges of its pods.
ResourceList charge_of(const model::AppWrapper& wrapper) {
  ResourceList sum;
  const Result<queue::Demand> demand = queue::demand_of(wrapper);
  for (const queue::PodSetDemand& set :
       demand ? demand->pod_sets : std::vector<queue::PodSetDemand>()) {
    sum += queue::to_resource_list(set.pods.charge.value_or(set.pods.requests)) * set.pods.count;
  }
  return sum;
}

void add_waiting(Trees& trees, const GroupedWrapper& wrapper, std::vector<QuotaStray>& strays) {
  const WrapperView view = view_of(wrapper);
  if (!view.waits || view.held) {
    return;
  }
  const ResourceList charge = charge_of(wrapper);
  for (auto& [name, tree] : trees) {
    const std::string_view label = model::find_or_empty(wrapper.metadata.labels, name);
    const std::string node(label.empty() ? kDefaultNode : label);
    const auto found = tree.by_name.find(node);
    if (found == tree.by_name.end()) {
      strays.push_back({name, view.full_name() + ": tree " + name + " has no node " + node});
      continue;
    }
    const std::string& only = tree.nodes[found->second].view.ns;
    if (!only.empty() && only != view.ns) {
      strays.push_back({name, view.full_name() + ": node " + node + " of tree " + name +
                                  " is for namespace " + only + " only"});
      continue;
    }
    tree.each_above(found->second, [&](Node& each) {
      each.waiting += charge;
      ++each.view.waiting;
    });
  }
}

// Counted as the queue counts: thousandths of CPUs, else whole units.
std::int64_t units(const std::string& resource, const Quantity& amount) {
  return resource == "cpu" ? amount.milli_value() : amount.value();
}
Quantity amount_of(const std::string& resource, std::int64_t units, Quantity::Format format) {
  return resource == "cpu" ? Quantity::milli(units, format) : Quantity(units, format);
}

std::int64_t beyond(const Node& node, const std::string& resource) {
  const Quantity* limit = node.limits.find(resource);
  return limit == nullptr ? 0
                          : std::max<std::int64_t>(0, units(resource, node.used.get(resource)) -
                                                          units(resource, *limit));
}

// Shares out the part of idle limits that nodes below the same `parent` use: all that is beyond a
// limit, but for what no limit claims and what `parent` itself borrows.
void share_lent(Tree& tree, const Node& parent, const std::string& resource,
                std::map<std::size_t, std::int64_t>& lent) {
  const Quantity* whole = parent.limits.find(resource);
  if (whole == nullptr) {
    return;  // without a limit there is nothing to lend
  }
  std::int64_t unclaimed = units(resource, *whole);
  std::int64_t wanted =
      units(resource, parent.used.get(resource));  // less what the nodes below own
  std::int64_t idle = 0;
  for (const std::size_t i : parent.below) {
    const Node& node = tree.nodes[i];
    const Quantity* limit = node.limits.find(resource);
    if (limit == nullptr) {
      continue;
    }
    const std::int64_t used = units(resource, node.used.get(resource));
    const std::int64_t own = units(resource, *limit);
    unclaimed -= own;
    wanted -= std::min(used, own);
    idle += std::max<std::int64_t>(0, own - used);
  }
  std::int64_t total = wanted - std::max<std::int64_t>(0, unclaimed) - beyond(parent, resource);
  total = std::clamp<std::int64_t>(total, 0, idle);
  for (const std::size_t i : parent.below) {
    const Quantity* limit = tree.nodes[i].limits.find(resource);
    const std::int64_t left =
        limit == nullptr
            ? 0
            : units(resource, *limit) - units(resource, tree.nodes[i].used.get(resource));
    if (left <= 0 || total <= 0) {
      continue;
    }
    // In proportion to what each has idle; the last one gives the rest.
    const auto share =
        static_cast<std::int64_t>(static_cast<long double>(total) * static_cast<long double>(left) /
                                  static_cast<long double>(idle));
    lent[i] = left == idle ? total : share;
    total -= lent[i];
    idle -= left;
  }
}

void fill_lines(Tree& tree) {
  for (const std::string& resource : tree.resources) {
    std::map<std::size_t, std::int64_t> lent;
    for (const Node& node : tree.nodes) {
      share_lent(tree, node, resource, lent);
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      Node& node = tree.nodes[i];
      const Quantity* limit = node.limits.find(resource);
      const Quantity::Format format =
          limit != nullptr ? limit->format() : node.used.get(resource).format();
      node.view.lines.push_back({.resource = resource,
                                 .limit = limit == nullptr ? std::nullopt : std::optional(*limit),
                                 .used = node.used.get(resource),
                                 .borrowed = amount_of(resource, beyond(node, resource), format),
                                 .lent = amount_of(resource, lent[i], format),
                                 .waiting = node.waiting.get(resource)});
    }
  }
}

void put_in_order(const Tree& tree, std::size_t at, std::size_t depth, std::set<std::size_t>& seen,
                  std::vector<QuotaNodeView>& out) {
  if (!seen.insert(at).second) {
    return;
  }
  out.push_back(tree.nodes[at].view);
  out.back().depth = depth;
  for (const std::size_t below : tree.nodes[at].below) {
    put_in_order(tree, below, depth + 1, seen, out);
  }
}

}  // namespace

QuotaView quota_of(const std::vector<model::QuotaSubtree>& subtrees,
                   const std::vector<GroupedWrapper>& wrappers) {
  std::vector<const model::QuotaSubtree*> oldest_first;
  for (const model::QuotaSubtree& each : subtrees) {
    oldest_first.push_back(&each);
  }
  // As the queue has it: of two nodes with one name the older counts.
  std::ranges::sort(oldest_first, {}, [](const model::QuotaSubtree* each) {
    return std::tuple(each->metadata.creation_timestamp, each->metadata.key());
  });
  Trees trees;
  for (const model::QuotaSubtree* each : oldest_first) {
    add_subtree(trees, *each);
  }
  QuotaView view;
  for (const GroupedWrapper& wrapper : wrappers) {
    add_waiting(trees, wrapper, view.strays);
  }
  for (auto& [name, tree] : trees) {
    tree.link();
    fill_lines(tree);
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      if (!tree.by_name.contains(tree.nodes[i].view.parent)) {
        put_in_order(tree, i, 0, seen, view.nodes);
      }
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      put_in_order(tree, i, 0, seen, view.nodes);  // its own ancestor
    }
  }
  return view;
}

}  // namespace codeflare::cli
