#include "sched/internal/claim_table.h"

#include <algorithm>

namespace codeflare::sched {

Index ClaimTable::path_for(const QuotaForest& forest, const Claim& claim) {
  QuotaPath path = forest.resolve(claim.asked);
  Signature signature;
  signature.add(path.problem).add(Index{path.loose});
  for (const Index leaf : path.leaves) signature.add(leaf);
  const auto [entry, added] =
      path_by_signature_.try_emplace(signature.text(), static_cast<Index>(paths_.size()));
  if (added) paths_.push_back(std::move(path));
  return entry->second;
}

Index ClaimTable::acquire(const QuotaForest& forest, QuotaClaim asked) {
  auto& designations = asked.designations;
  std::sort(designations.begin(), designations.end(),
            [](const Designation& a, const Designation& b) { return a.tree < b.tree; });
  Signature signature;
  signature.add(asked.ns).add(Index{asked.loose});
  for (const Designation& each : designations) signature.add(each.tree).add(each.node);
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
  added.path = path_for(forest, added);
  by_signature_.emplace(added.signature, index);
  return index;
}

void ClaimTable::release(Index claim) {
  Claim& left = claims_[claim];
  if (--left.refs > 0) return;
  by_signature_.erase(left.signature);
  left = Claim{};
  free_.push_back(claim);
}

void ClaimTable::resolve_all(const QuotaForest& forest) {
  paths_.clear();
  path_by_signature_.clear();
  for (Claim& claim : claims_) {
    if (claim.refs > 0) claim.path = path_for(forest, claim);
  }
}

}  // namespace codeflare::sched
