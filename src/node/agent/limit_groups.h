#pragma once

#include "base/result.h"
#include "node/system/limits.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

// The control groups of a node's pods: one per pod in each hierarchy, one per container below. All
// of it blocks.
namespace codeflare::node {

// Where groups of new pods are made.
class LimitGroups {
 public:
  // Below the groups that this process is in (version 1), or at the top or beside us (version 2),
  // named after `name`. An error says why that is not to be had: limits are soft then.
  static Result<std::unique_ptr<LimitGroups>> find(const std::string& name);

  LimitGroups(GroupVersion version, std::vector<std::string> bases);
  // Where those of the pod are, or would be; one per hierarchy.
  std::vector<std::string> directories_of(const std::string& uid) const;
  // Makes them. Fine when they are there already.
  Result<std::vector<std::string>> make_pod(const std::string& uid,
                                            const ResourceBounds& bounds) const;
  // Removes those of all other pods than these.
  Result<void> keep(const std::set<std::string>& uids) const;

 private:
  GroupVersion version_;
  std::vector<std::string> bases_;
};

// Below the directories of its pod, also those of an earlier run that lie elsewhere.
Result<void> make_container_groups(const std::vector<std::string>& pod,
                                   const std::string& container, const ResourceBounds& bounds);
// When nothing runs in them any more; fine when they are gone.
Result<void> remove_pod_groups(const std::vector<std::string>& pod);

}  // namespace codeflare::node
