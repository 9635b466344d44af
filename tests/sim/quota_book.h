#pragma once

#include "base/time.h"
#include "model/meta.h"
#include "model/quota_subtree.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::sim {

// Quota trees as a person reads them, for CPUs alone: a node with a hard limit and a root may not
// be exceeded, all others borrow from above. Knows nothing of how the queue counts.
class QuotaBook {
 public:
  void write(const model::QuotaSubtree& subtree, WallTime now);

  // The holdings of one AppWrapper, and the quota nodes that its labels charge.
  struct Charge {
    model::StringMap labels;
    std::int64_t millicores = 0;
  };
  // Where the newcomer leads beyond a limit, in words; empty: nowhere. A limit that was in force a
  // short while ago may still be believed in.
  std::string exceeded(const Charge& newcomer, const std::vector<Charge>& others,
                       WallTime now) const;

 private:
  struct Limit {
    WallTime since;
    std::optional<std::int64_t> millicores;  // absent: none
  };
  struct Node {
    std::string parent;
    bool binding = false;
    std::vector<Limit> limits;  // oldest first
  };
  using Tree = std::map<std::string, Node>;

  // From the node that the labels name up to its root.
  static std::vector<std::string> path(const std::string& tree_name, const Tree& tree,
                                       const model::StringMap& labels);
  static std::optional<std::int64_t> believed(const Node& node, WallTime now);

  std::map<std::string, Tree> trees_;
};

}  // namespace codeflare::sim
