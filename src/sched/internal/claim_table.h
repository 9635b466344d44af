#pragma once

#include "sched/internal/names.h"
#include "sched/internal/quota_forest.h"
#include "sched/spec.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace codeflare::sched {

// What gangs ask of the forest; gangs share it.
struct Claim {
  QuotaClaim asked;
  std::string signature;
  Index path = kNone;  // where it leads in the forest as it is
  Index refs = 0;
};

// Claims, and the distinct paths through the forest that they resolve to.
class ClaimTable {
 public:
  Index acquire(const QuotaForest& forest, QuotaClaim asked);
  void release(Index claim);
  // The forest has changed: all paths are found anew.
  void resolve_all(const QuotaForest& forest);

  const Claim& operator[](Index claim) const { return claims_[claim]; }
  const QuotaPath& path_of(Index claim) const { return paths_[claims_[claim].path]; }
  const QuotaPath& path(Index path) const { return paths_[path]; }

 private:
  Index path_for(const QuotaForest& forest, const Claim& claim);

  std::vector<Claim> claims_;
  std::vector<Index> free_;
  std::unordered_map<std::string, Index> by_signature_;
  std::vector<QuotaPath> paths_;
  std::unordered_map<std::string, Index> path_by_signature_;
};

}  // namespace codeflare::sched
