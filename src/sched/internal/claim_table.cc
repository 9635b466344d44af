#include "sched/internal/claim_table.h"

#include <algorithm>

namespace codeflare::sched {

Index ClaimTable::acquire_path(const QuotaForest& forest, const Claim& claim) {
  QuotaPath path = forest.resolve(claim.asked);
  Signature signature;
  signature.add(path.problem).add(Index{path.loose});
  for (const Index leaf : path.leaves) {
    signature.add(leaf);
  }
  const Index next = free_paths_.empty() ? static_cast<Index>(paths_.size()) : free_paths_.back();
  const auto [entry, added] = path_by_signature_.try_emplace(signature.text(), next);
  if (!added) {
    ++path_uses_[entry->second].refs;
    return entry->second;
  }
  if (free_paths_.empty()) {
    paths_.emplace_back();
    path_uses_.emplace_back();
  } else {
    free_paths_.pop_back();
  }
  paths_[next] = std::move(path);
  path_uses_[next] = {entry->first, 1};
  return next;
}

void ClaimTable::release_path(Index path) {
  PathUse& left = path_uses_[path];
  if (--left.refs > 0) {
    return;
  }
  path_by_signature_.erase(left.signature);
  paths_[path] = QuotaPath{};
  left = PathUse{};
  free_paths_.push_back(path);
}

Index ClaimTable::acquire(const QuotaForest& forest, QuotaClaim asked) {
  auto& designations = asked.designations;
  std::sort(designations.begin(), designations.end(),
            [](const Designation& a, const Designation& b) { return a.tree < b.tree; });
  Signature signature;
  signature.add(asked.ns).add(Index{asked.loose});
  for (const Designation& each : designations) {
    signature.add(each.tree).add(each.node);
  }
  const auto known = by_signature_.find(signature.text());
  if (known != by_signature_.end()) {
    ++claims_[known->second].refs;
    return known->second;
  }
  Index index = 0;
  if (free_.empty()) {
    index = static_cast<Index>(claims_.size());
    claims_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Claim& added = claims_[index];
  added = Claim{std::move(asked), signature.text(), kNone, 1};
  added.path = acquire_path(forest, added);
  by_signature_.emplace(added.signature, index);
  return index;
}

void ClaimTable::release(Index claim) {
  Claim& left = claims_[claim];
  if (--left.refs > 0) {
    return;
  }
  release_path(left.path);
  by_signature_.erase(left.signature);
  left = Claim{};
  free_.push_back(claim);
}

void ClaimTable::resolve_all(const QuotaForest& forest) {
  paths_.clear();
  path_uses_.clear();
  free_paths_.clear();
  path_by_signature_.clear();
  for (Claim& claim : claims_) {
    if (claim.refs > 0) {
      claim.path = acquire_path(forest, claim);
    }
  }
}

}  // namespace codeflare::sched
