#pragma once

#include "apiserver/identity/rbac_policy.h"
#include "apiserver/store/store.h"
#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/log.h"

#include <array>

namespace codeflare::apiserver {

// Keeps a policy as the store is, from the moment it is made and with every commit, and writes what
// aggregated ClusterRoles gather into the objects, for people to see: the policy itself does not
// wait for that. Policy and this outlive the store's last commit.
class RbacSync {
 public:
  RbacSync(Store& store, RbacPolicy& policy, Logger logger);

  // Brings the rules of aggregated ClusterRoles up to date.
  Task<Result<void>> write_aggregates();
  // Does so whenever something changes, until stopped.
  Task<void> run();

 private:
  void load(RbacKind kind);
  void apply(RbacKind kind, const Event& event);

  Store& store_;
  RbacPolicy& policy_;
  Logger logger_;
  std::array<CollectionId, 4> collections_{};  // by RbacKind
  bool changed_ = true;
  WaitList wake_;
};

}  // namespace codeflare::apiserver
