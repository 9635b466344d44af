#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/wrapper_view.h"
#include "model/quota_subtree.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// Quota trees and the work that charges them, as far as the caller may list them.
struct QuotaState {
  std::vector<model::QuotaSubtree> subtrees;
  std::vector<GroupedWrapper> wrappers;
  // Only objects of this namespace could be listed; empty: of all namespaces.
  std::string subtrees_ns;
  std::string wrappers_ns;
};

Task<Result<QuotaState>> look_at_quota(Session& session);

// Says so when only a part can be seen.
void tell_scope(Session& session, const QuotaState& state);

}  // namespace codeflare::cli
