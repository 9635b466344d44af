#pragma once

#include "model/gvk.h"
#include "model/quota_subtree.h"
#include "queue/quota_scope.h"
#include "sched/core.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace codeflare::queue {

// QuotaSubtrees and ResourceQuotas as quota trees of the core.
class QuotaTrees {
 public:
  void upsert(sched::Core& core, const model::QuotaSubtree& subtree);
  void remove(sched::Core& core, const model::ObjectKey& key);
  // Names of the trees that QuotaSubtrees make.
  std::set<std::string> trees() const;
  // The allocation, and the problems of each child.
  model::QuotaSubtreeStatus status(const sched::Core& core,
                                   const model::QuotaSubtree& subtree) const;

  // A tree of one node, for gangs of its namespace only. With scopes there is a second one without
  // limits, for gangs that it does not concern: they have to be designated there.
  static void set_resource_quota(sched::Core& core, const model::ObjectKey& key,
                                 const QuotaRule& rule);
  static sched::Designation out_of_scope(const model::ObjectKey& key);
  static void remove_resource_quota(sched::Core& core, const model::ObjectKey& key);
  static void set_resource_quota_use(sched::Core& core, const model::ObjectKey& key,
                                     const sched::Resources& use);

 private:
  struct Subtree {
    std::string tree;  // empty: it does not say
    std::string parent;
    std::vector<sched::QuotaNode> nodes;
    sched::Time created{};
  };
  // The subtrees of a tree, oldest first: of two nodes with one name the first counts.
  std::vector<const model::ObjectKey*> members(const std::string& tree) const;
  void rebuild(sched::Core& core, const std::string& tree) const;
  std::string problem(const model::ObjectKey& key, const Subtree& subtree, const std::string& child,
                      std::size_t position) const;
  // The node's parent when it is defined; null when nobody defines the node.
  const std::string* parent_of(const std::string& tree, const std::string& node) const;

  std::map<model::ObjectKey, Subtree> subtrees_;
};

}  // namespace codeflare::queue
