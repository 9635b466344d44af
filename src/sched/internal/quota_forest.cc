#include "sched/internal/quota_forest.h"

#include <algorithm>
#include <set>
#include <utility>

namespace codeflare::sched {

namespace {

constexpr const char* kDefaultNode = "default";

const std::string* designated(const std::vector<Designation>& designations,
                              const std::string& tree) {
  for (const Designation& each : designations) {
    if (each.tree == tree) {
      return &each.node;
    }
  }
  return nullptr;
}

// The first spec of each name whose parents lead to a root.
std::vector<const QuotaNode*> usable(const std::vector<QuotaNode>& specs,
                                     std::vector<std::string>* problems) {
  std::map<std::string, const QuotaNode*> by_name;
  const auto report = [&](std::string text) {
    if (problems != nullptr) {
      problems->push_back(std::move(text));
    }
  };
  for (const QuotaNode& spec : specs) {
    if (spec.name.empty()) {
      report("a quota node has no name");
    } else if (!by_name.emplace(spec.name, &spec).second) {
      report("quota node " + spec.name + " is defined twice; the first one counts");
    }
  }
  std::vector<const QuotaNode*> result;
  for (const auto& [name, spec] : by_name) {
    std::set<std::string> seen;
    const QuotaNode* at = spec;
    while (!at->parent.empty()) {
      if (!seen.insert(at->name).second) {
        break;
      }
      const auto parent = by_name.find(at->parent);
      if (parent == by_name.end()) {
        break;
      }
      at = parent->second;
    }
    if (at->parent.empty()) {
      result.push_back(spec);
    } else if (seen.contains(at->name) && by_name.contains(at->parent)) {
      report("quota node " + name + " is its own ancestor");
    } else {
      report("quota node " + name + ": parent " + at->parent + " does not exist");
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> QuotaForest::set_tree(const std::string& tree,
                                               const std::vector<QuotaNode>& nodes,
                                               const std::string& only_ns,
                                               ResourceTable& resources) {
  const auto [known, added] = trees_.try_emplace(tree);
  if (!added) {
    leave_namespace(tree, known->second);
  }
  known->second.spec = nodes;
  known->second.only_ns = only_ns;
  by_ns_[only_ns].insert(tree);
  limits_[tree].clear();
  for (const QuotaNode& node : nodes) {
    Request limits;
    // A limit of zero is a limit, so zeros stay.
    for (const Resource& resource : node.limits) {
      const Amount amount = std::clamp<Amount>(resource.amount, 0, kGangAmountMax);
      limits.push_back({resources.intern(resource.name), amount});
    }
    std::sort(limits.begin(), limits.end(),
              [](const Part& a, const Part& b) { return a.resource < b.resource; });
    limits_[tree].emplace(node.name, std::move(limits));
  }
  std::vector<std::string> problems;
  if (added) {
    // The others stay where they are: a start brings thousands of them.
    forget_charges();
    plant(tree, known->second, &problems);
  } else {
    rebuild(tree, &problems);
  }
  return problems;
}

void QuotaForest::remove_tree(const std::string& tree) {
  const auto known = trees_.find(tree);
  if (known == trees_.end()) {
    forget_charges();
    return;
  }
  leave_namespace(known->first, known->second);
  trees_.erase(known);
  limits_.erase(tree);
  rebuild(tree, nullptr);
}

void QuotaForest::leave_namespace(const std::string& name, const Tree& tree) {
  auto& names = by_ns_[tree.only_ns];
  names.erase(name);
  if (names.empty()) {
    by_ns_.erase(tree.only_ns);
  }
}

void QuotaForest::rebuild(const std::string& changed, std::vector<std::string>* problems) {
  nodes_.clear();
  relieved_.clear();
  for (auto& [name, tree] : trees_) {
    plant(name, tree, name == changed ? problems : nullptr);
  }
}

void QuotaForest::forget_charges() {
  relieved_.clear();
  for (QuotaState& node : nodes_) {
    node.used = node.foreign;
    node.members.clear();
    node.borrowers.clear();
    node.waiters.clear();
    node.relieved = false;
  }
}

void QuotaForest::plant(const std::string& name, Tree& tree, std::vector<std::string>* problems) {
  tree.nodes.clear();
  tree.roots.clear();
  const auto specs = usable(tree.spec, problems);
  for (const QuotaNode* spec : specs) {
    tree.nodes.emplace(spec->name, size());
    nodes_.push_back({.name = spec->name,
                      .tree = name,
                      .ns = spec->ns,
                      .hard = spec->hard,
                      .limits = limits_[name][spec->name]});
    if (const auto foreign = tree.foreign.find(spec->name); foreign != tree.foreign.end()) {
      nodes_.back().foreign = nodes_.back().used = foreign->second;
    }
  }
  for (const QuotaNode* spec : specs) {
    const Index node = tree.nodes[spec->name];
    if (spec->parent.empty()) {
      tree.roots.push_back(node);
    } else {
      nodes_[node].parent = tree.nodes[spec->parent];
    }
  }
  for (const auto& [node_name, node] : tree.nodes) {
    for (Index up = nodes_[node].parent; up != kNone; up = nodes_[up].parent) {
      ++nodes_[node].depth;
    }
  }
}

std::vector<const QuotaForest::Named*> QuotaForest::concerning(const QuotaClaim& claim) const {
  std::vector<const Named*> found;
  const auto add = [&](const std::string& ns) {
    const auto names = by_ns_.find(ns);
    if (names == by_ns_.end()) {
      return;
    }
    for (const std::string& name : names->second) {
      found.push_back(&*trees_.find(name));
    }
  };
  add("");
  if (!claim.ns.empty()) {
    add(claim.ns);
  }
  std::sort(found.begin(), found.end(),
            [](const Named* a, const Named* b) { return a->first < b->first; });
  return found;
}

Index QuotaForest::find(const std::string& tree, const std::string& node) const {
  const auto entry = trees_.find(tree);
  if (entry == trees_.end()) {
    return kNone;
  }
  const auto found = entry->second.nodes.find(node);
  return found == entry->second.nodes.end() ? kNone : found->second;
}

std::vector<std::string> QuotaForest::open_to(const std::string& tree,
                                              const std::string& ns) const {
  std::vector<std::string> names;
  const auto entry = trees_.find(tree);
  if (entry == trees_.end()) {
    return names;
  }
  for (const auto& [name, index] : entry->second.nodes) {
    if (nodes_[index].ns.empty() || nodes_[index].ns == ns) {
      names.push_back(name);
    }
  }
  return names;
}

QuotaPath QuotaForest::resolve(const QuotaClaim& claim) const {
  QuotaPath path;
  path.loose = claim.loose;
  if (claim.loose) {
    return path;
  }
  for (const Named* named : concerning(claim)) {
    const auto& [name, tree] = *named;
    const std::string* wanted = designated(claim.designations, name);
    const std::string node = wanted == nullptr ? kDefaultNode : *wanted;
    const auto found = tree.nodes.find(node);
    if (found == tree.nodes.end()) {
      path = {{}, "quota node " + node + " does not exist in tree " + name, name, node};
      return path;
    }
    const std::string& owner = nodes_[found->second].ns;
    if (!owner.empty() && owner != claim.ns) {
      path = {{}, "quota node " + node + " belongs to namespace " + owner, name, node};
      return path;
    }
    path.leaves.push_back(found->second);
  }
  return path;
}

std::vector<Index> QuotaForest::resolve_running(const QuotaClaim& claim) const {
  std::vector<Index> leaves;
  if (claim.loose) {
    return leaves;
  }
  const auto is_open = [&](Index node) {
    return nodes_[node].ns.empty() || nodes_[node].ns == claim.ns;
  };
  const auto open_node = [&](const Tree& tree, const std::string& node) {
    const auto found = tree.nodes.find(node);
    return found != tree.nodes.end() && is_open(found->second) ? found->second : kNone;
  };
  for (const Named* named : concerning(claim)) {
    const auto& [name, tree] = *named;
    const std::string* wanted = designated(claim.designations, name);
    Index leaf = open_node(tree, wanted == nullptr ? kDefaultNode : *wanted);
    // Work does not become free by naming a node that is not there, or is another namespace's: the
    // root is charged, of several the default node or the first.
    if (leaf == kNone && tree.roots.size() > 1) {
      leaf = open_node(tree, kDefaultNode);
    }
    for (const Index root : tree.roots) {
      if (leaf == kNone && is_open(root)) {
        leaf = root;
      }
    }
    if (leaf != kNone) {
      leaves.push_back(leaf);
    }
  }
  return leaves;
}

template <typename Visit>
void QuotaForest::each_shortage(const std::vector<Index>& leaves, const Request& charge,
                                Visit&& visit) const {
  for (const Index leaf : leaves) {
    for (Index index = leaf; index != kNone; index = nodes_[index].parent) {
      const QuotaState& node = nodes_[index];
      if (!node.binding()) {
        continue;
      }
      for (const Part& limit : node.limits) {
        const Amount requested = amount_of(charge, limit.resource);
        if (requested == 0) {
          continue;
        }
        const Amount used = amount_of(node.used, limit.resource);
        if (used + requested > limit.amount &&
            visit(QuotaShortage{index, limit.resource, limit.amount, used, requested})) {
          return;
        }
      }
    }
  }
}

std::optional<QuotaShortage> QuotaForest::shortage(const std::vector<Index>& leaves,
                                                   const Request& charge) const {
  std::optional<QuotaShortage> first;
  each_shortage(leaves, charge, [&](const QuotaShortage& found) {
    first = found;
    return true;
  });
  return first;
}

std::vector<QuotaShortage> QuotaForest::shortages(const std::vector<Index>& leaves,
                                                  const Request& charge) const {
  std::vector<QuotaShortage> all;
  each_shortage(leaves, charge, [&](const QuotaShortage& found) {
    all.push_back(found);
    return false;
  });
  return all;
}

void QuotaForest::charge(const std::vector<Index>& leaves, const Request& amounts, int sign) {
  each_on_path(leaves, [&](Index index) {
    QuotaState& node = nodes_[index];
    add(node.used, amounts, sign);
    if (sign < 0) {
      relieve(index);
    }
  });
}

void QuotaForest::relieve(Index node) {
  if (std::exchange(nodes_[node].relieved, true)) {
    return;
  }
  relieved_.push_back(node);
}

Result<void> QuotaForest::set_foreign(const std::string& tree, const std::string& node,
                                      const Request& usage) {
  const Index index = find(tree, node);
  if (index == kNone) {
    return fail(not_found("quota node " + node + " does not exist in tree " + tree));
  }
  QuotaState& changed = nodes_[index];
  add(changed.used, changed.foreign, -1);
  add(changed.used, usage, +1);
  changed.foreign = trees_[tree].foreign[node] = usage;
  relieve(index);
  return {};
}

void QuotaForest::charge_quietly(const std::vector<Index>& leaves, const Request& amounts,
                                 int sign) {
  each_on_path(leaves, [&](Index index) { add(nodes_[index].used, amounts, sign); });
}

std::vector<Index> QuotaForest::take_relieved() {
  for (const Index node : relieved_) {
    nodes_[node].relieved = false;
  }
  return std::exchange(relieved_, {});
}

}  // namespace codeflare::sched
