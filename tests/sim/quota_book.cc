#include "tests/sim/quota_book.h"

#include <algorithm>
#include <chrono>

namespace codeflare::sim {

namespace {

// A watch that fell silent is given up after five minutes; the queue works on what it saw last.
constexpr Duration kMayLag = std::chrono::minutes(10);

}  // namespace

void QuotaBook::write(const model::QuotaSubtree& subtree, WallTime now) {
  Tree& tree =
      trees_[std::string(model::find_or_empty(subtree.metadata.labels, model::kQuotaTreeLabel))];
  for (const model::QuotaChild& child : subtree.spec.children) {
    const model::Quantity* cpu = child.quotas.requests.find("cpu");
    const std::optional<std::int64_t> limit =
        cpu == nullptr ? std::nullopt : std::optional(cpu->milli_value());
    Node& node = tree[child.name];
    node.parent = subtree.spec.parent;
    node.binding = child.quotas.hard_limit || subtree.spec.parent.empty();
    if (node.limits.empty() || node.limits.back().millicores != limit) {
      node.limits.push_back({now, limit});
    }
  }
}

std::vector<std::string> QuotaBook::path(const std::string& tree_name, const Tree& tree,
                                         const model::StringMap& labels) {
  std::vector<std::string> names;
  const std::string_view label = model::find_or_empty(labels, tree_name);
  auto at = tree.find(std::string(label.empty() ? "default" : label));
  while (at != tree.end()) {
    names.push_back(at->first);
    at = tree.find(at->second.parent);
  }
  return names;
}

std::optional<std::int64_t> QuotaBook::believed(const Node& node, WallTime now) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < node.limits.size(); ++i) {
    const bool over = i + 1 < node.limits.size() && node.limits[i + 1].since + kMayLag < now;
    if (over) {
      continue;
    }
    if (!node.limits[i].millicores) {
      return std::nullopt;
    }
    most = std::max(most, *node.limits[i].millicores);
  }
  return most;
}

std::string QuotaBook::exceeded(const Charge& newcomer, const std::vector<Charge>& others,
                                WallTime now) const {
  for (const auto& [tree_name, tree] : trees_) {
    for (const std::string& name : path(tree_name, tree, newcomer.labels)) {
      const Node& node = tree.at(name);
      const std::optional<std::int64_t> limit = believed(node, now);
      if (!node.binding || !limit) {
        continue;
      }
      std::int64_t sum = newcomer.millicores;
      for (const Charge& other : others) {
        const std::vector<std::string> charged = path(tree_name, tree, other.labels);
        sum += std::ranges::count(charged, name) * other.millicores;
      }
      if (sum > *limit) {
        return std::to_string(sum) + "m of " + std::to_string(*limit) + "m CPUs at quota node " +
               name + " of tree " + tree_name;
      }
    }
  }
  return {};
}

}  // namespace codeflare::sim
