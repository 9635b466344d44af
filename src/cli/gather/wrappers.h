#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/output.h"
#include "cli/session/session.h"
#include "cli/views/kinds.h"
#include "cli/views/wrapper_view.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// Of the group that the kind says.
Result<GroupedWrapper> decode_wrapper(const KnownKind& kind, const kube::ObjectRef& object);

struct WrapperList {
  std::vector<TypedObject> objects;
  std::vector<GroupedWrapper> wrappers;
};
// All of one group; all namespaces when `ns` is empty. AppWrappers that cannot be understood are
// left out of `wrappers`.
Task<Result<WrapperList>> list_wrappers(Session& session, KnownKind kind, std::string ns,
                                        std::string selector);

// With those of MCAD's group unless one was named. Most clusters do not have them, and where they
// do not nobody may list them.
Task<Result<WrapperList>> list_groups(Session& session, KnownKind kind, std::string ns,
                                      std::string selector);

}  // namespace codeflare::cli
