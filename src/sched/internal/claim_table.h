#pragma once

#include "sched/internal/names.h"
#include "sched/internal/quota_forest.h"
#include "sched/spec.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace codeflare::sched {

// The claims of gangs on the forest; gangs share it.
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
  std::size_t paths() const { return path_by_signature_.size(); }

 private:
  // One more claim leads there.
  Index acquire_path(const QuotaForest& forest, const Claim& claim);
  void release_path(Index path);

  std::vector<Claim> claims_;
  std::vector<Index> free_;
  std::unordered_map<std::string, Index> by_signature_;
  // A label written by people may be why a path leads nowhere: it is not kept longer than the
  // claims are.
  std::vector<QuotaPath> paths_;
  struct PathUse {
    std::string signature;
    Index refs = 0;
  };
  std::vector<PathUse> path_uses_;
  std::vector<Index> free_paths_;
  std::unordered_map<std::string, Index> path_by_signature_;
};

}  // namespace codeflare::sched
