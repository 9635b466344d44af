#include "queue/internal/quota_trees.h"

#include "model/resource_text.h"
#include "queue/demand.h"
#include "queue/internal/amounts.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace codeflare::queue {

namespace {

constexpr const char* kOnlyNode = "default";
constexpr const char* kOutOfScope = "out of scope";

// No label value has a blank: it meets no tree of a QuotaSubtree.
std::string tree_of_quota(const model::ObjectKey& key) {
  return "ResourceQuota " + key.to_string();
}

// The resource that a ResourceQuota limits, as gangs charge it; nothing for what is not of pods.
std::optional<std::string> charged_as(const std::string& name) {
  if (name == "pods" || name == "count/pods") {
    return "pods";
  }
  if (name == "limits.cpu" || name == "limits.memory" || name == "limits.ephemeral-storage") {
    return name;
  }
  constexpr std::string_view kRequests = "requests.";
  const std::string bare = name.starts_with(kRequests) ? name.substr(kRequests.size()) : name;
  const bool plain = bare == "cpu" || bare == "memory" || bare == "ephemeral-storage" ||
                     bare.starts_with("hugepages-");
  // requests.storage is of volumes; extended resources have a domain and need the prefix.
  if (plain) {
    return bare;
  }
  const bool extended = bare.size() < name.size() && bare.find('/') != std::string::npos;
  return extended ? std::optional(bare) : std::nullopt;
}

// The core counts no further.
constexpr sched::Amount kLimitMax = sched::Amount{1} << 56;

bool in_millis(const std::string& charged) {
  return charged == "cpu" || charged == "limits.cpu";
}

sched::Amount limit_of(const std::string& charged, const model::Quantity& quantity) {
  const sched::Amount amount = in_millis(charged) ? quantity.milli_value() : quantity.value();
  return std::clamp<sched::Amount>(amount, 0, kLimitMax);
}

// Which amounts are not counted as they are written; empty when all are.
std::string miscounted(const model::QuotaAmounts& quotas) {
  std::string told;
  for (const auto& [name, quantity] : quotas.requests) {
    const sched::Amount limit = limit_of(name, quantity);
    const model::Quantity counted =
        in_millis(name) ? model::Quantity::milli(limit) : model::Quantity(limit);
    if (quotas.disabled || counted == quantity) {
      continue;
    }
    // Of 1e999 no more is known than that it is too much.
    const std::string written =
        limit == kLimitMax ? "more than can be counted" : quantity.to_string();
    told += (told.empty() ? "" : "; ") + ("quotas.requests[" + name + "]: " + written) +
            " is counted as " + counted.to_string();
  }
  return told;
}

// "6 CPUs, 4Gi memory": the named resources of the list.
std::string listed_text(const model::ResourceList& amounts, const model::ResourceList& named) {
  std::string text;
  for (const auto& [name, limit] : named) {
    text += (text.empty() ? "" : ", ") + model::human_resource(name, amounts.get(name));
  }
  return text;
}

sched::QuotaNode node_of(const model::QuotaSubtreeSpec& spec, const model::QuotaChild& child) {
  sched::QuotaNode node{.name = child.name, .parent = spec.parent, .ns = child.ns};
  if (child.quotas.disabled) {
    return node;
  }
  node.hard = child.quotas.hard_limit;
  // A limit of zero is a limit: zeros stay.
  for (const auto& [name, quantity] : child.quotas.requests) {
    node.limits.push_back({name, limit_of(name, quantity)});
  }
  return node;
}

}  // namespace

std::set<std::string> QuotaTrees::trees() const {
  std::set<std::string> names;
  for (const auto& [key, subtree] : subtrees_) {
    if (!subtree.tree.empty()) {
      names.insert(subtree.tree);
    }
  }
  return names;
}

std::vector<const model::ObjectKey*> QuotaTrees::members(const std::string& tree) const {
  std::vector<const model::ObjectKey*> found;
  for (const auto& [key, subtree] : subtrees_) {
    if (subtree.tree == tree) {
      found.push_back(&key);
    }
  }
  std::sort(found.begin(), found.end(), [&](const auto* a, const auto* b) {
    return std::tie(subtrees_.at(*a).created, *a) < std::tie(subtrees_.at(*b).created, *b);
  });
  return found;
}

void QuotaTrees::rebuild(sched::Core& core, const std::string& tree) const {
  if (tree.empty()) {
    return;
  }
  const auto found = members(tree);
  if (found.empty()) {
    core.remove_quota_tree(tree);
    return;
  }
  std::vector<sched::QuotaNode> nodes;
  for (const model::ObjectKey* key : found) {
    const auto& more = subtrees_.at(*key).nodes;
    nodes.insert(nodes.end(), more.begin(), more.end());
  }
  // The status of each QuotaSubtree reports its problems.
  (void)core.set_quota_tree(tree, std::move(nodes));
}

void QuotaTrees::upsert(sched::Core& core, const model::QuotaSubtree& subtree) {
  Subtree now{std::string(model::find_or_empty(subtree.metadata.labels, model::kQuotaTreeLabel)),
              subtree.spec.parent,
              {},
              subtree.metadata.creation_timestamp.value_or(sched::Time{})};
  for (const model::QuotaChild& child : subtree.spec.children) {
    now.nodes.push_back(node_of(subtree.spec, child));
  }
  const auto [at, added] = subtrees_.try_emplace(subtree.metadata.key());
  const auto same_node = [](const sched::QuotaNode& a, const sched::QuotaNode& b) {
    return std::tie(a.name, a.parent, a.limits, a.hard, a.ns) ==
           std::tie(b.name, b.parent, b.limits, b.hard, b.ns);
  };
  // Its status is written often: only what it says matters.
  if (!added && at->second.tree == now.tree && at->second.created == now.created &&
      std::ranges::equal(at->second.nodes, now.nodes, same_node)) {
    return;
  }
  const std::string before = at->second.tree;
  at->second = std::move(now);
  if (before != at->second.tree) {
    rebuild(core, before);
  }
  rebuild(core, at->second.tree);
}

void QuotaTrees::remove(sched::Core& core, const model::ObjectKey& key) {
  const auto at = subtrees_.find(key);
  if (at == subtrees_.end()) {
    return;
  }
  const std::string tree = at->second.tree;
  subtrees_.erase(at);
  rebuild(core, tree);
}

const std::string* QuotaTrees::parent_of(const std::string& tree, const std::string& node) const {
  for (const model::ObjectKey* key : members(tree)) {
    for (const sched::QuotaNode& each : subtrees_.at(*key).nodes) {
      if (each.name == node) {
        return &each.parent;
      }
    }
  }
  return nullptr;
}

std::string QuotaTrees::problem(const model::ObjectKey& key, const Subtree& subtree,
                                const std::string& child, std::size_t position) const {
  if (subtree.tree.empty()) {
    return "label tree is missing; set it to the name of the quota tree";
  }
  if (child.empty()) {
    return "name is missing";
  }
  for (const model::ObjectKey* member : members(subtree.tree)) {
    const auto& nodes = subtrees_.at(*member).nodes;
    const auto first = std::ranges::find(nodes, child, &sched::QuotaNode::name);
    if (first == nodes.end()) {
      continue;
    }
    const bool here =
        *member == key && first - nodes.begin() == static_cast<std::ptrdiff_t>(position);
    if (here) {
      break;
    }
    return "tree " + subtree.tree + " already has a node " + child + ", in QuotaSubtree " +
           member->to_string();
  }
  std::set<std::string> seen{child};
  const std::string* at = &subtree.parent;
  while (!at->empty()) {
    if (!seen.insert(*at).second) {
      return "node is its own ancestor, through " + *at;
    }
    const std::string* above = parent_of(subtree.tree, *at);
    if (above == nullptr) {
      return "parent " + *at + " does not exist in tree " + subtree.tree;
    }
    at = above;
  }
  return "";
}

model::QuotaSubtreeStatus QuotaTrees::status(const sched::Core& core,
                                             const model::QuotaSubtree& subtree) const {
  model::QuotaSubtreeStatus status;
  status.observed_generation = subtree.metadata.generation;
  const auto at = subtrees_.find(subtree.metadata.key());
  if (at == subtrees_.end()) {
    return status;
  }
  model::ResourceList limits;
  for (std::size_t i = 0; i < subtree.spec.children.size(); ++i) {
    const model::QuotaChild& child = subtree.spec.children[i];
    model::QuotaChildStatus told{.name = child.name, .ns = child.ns, .path = child.path};
    told.problem = problem(at->first, at->second, child.name, i);
    if (told.problem.empty()) {
      told.allocated = to_resource_list(core.quota_used(at->second.tree, child.name));
      status.total_allocation += told.allocated;
      limits += child.quotas.disabled ? model::ResourceList() : child.quotas.requests;
      told.problem = miscounted(child.quotas);
    }
    status.children.push_back(std::move(told));
  }
  status.used = listed_text(status.total_allocation, limits);
  status.limit = listed_text(limits, limits);
  return status;
}

void QuotaTrees::set_resource_quota(sched::Core& core, const model::ObjectKey& key,
                                    const QuotaRule& rule) {
  sched::QuotaNode node{.name = kOnlyNode, .hard = true};
  for (const auto& [name, quantity] : rule.hard) {
    const auto charged = charged_as(name);
    if (!charged) {
      continue;
    }
    const sched::Amount limit = limit_of(*charged, quantity);
    const auto twice = std::ranges::find(node.limits, *charged, &sched::Resource::name);
    if (twice != node.limits.end()) {
      twice->amount = std::min(twice->amount, limit);
    } else {
      node.limits.push_back({*charged, limit});
    }
  }
  std::vector<sched::QuotaNode> nodes{std::move(node)};
  if (!rule.scopes.empty()) {
    nodes.push_back({.name = kOutOfScope});
  }
  (void)core.set_quota_tree(tree_of_quota(key), std::move(nodes), key.ns);
}

sched::Designation QuotaTrees::out_of_scope(const model::ObjectKey& key) {
  return {tree_of_quota(key), kOutOfScope};
}

void QuotaTrees::remove_resource_quota(sched::Core& core, const model::ObjectKey& key) {
  core.remove_quota_tree(tree_of_quota(key));
}

void QuotaTrees::set_resource_quota_use(sched::Core& core, const model::ObjectKey& key,
                                        const sched::Resources& use) {
  (void)core.set_quota_foreign(tree_of_quota(key), kOnlyNode, use);
}

}  // namespace codeflare::queue
