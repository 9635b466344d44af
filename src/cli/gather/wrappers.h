#pragma once

#include "base/async/task.h"
#include "cli/gather/kinds.h"
#include "cli/session/output.h"
#include "cli/session/session.h"
#include "cli/views/wrapper_view.h"

#include <string>
#include <vector>

namespace codeflare::cli {

struct ListFlags {
  std::string kind;
  bool all_namespaces = false;
  std::string selector;
};
// `codeflare list appwrapper`: of both groups, unless one is named.
Task<int> run_list(Session& session, ListFlags flags);

struct NameFlags {
  std::string kind;
  std::vector<std::string> names;
};
// `codeflare status appwrapper NAME`
Task<int> run_status(Session& session, NameFlags flags);

// `codeflare hold appwrapper NAME...` and `release`: spec.suspend.
Task<int> run_hold(Session& session, NameFlags flags, bool hold);

// Of the group that the kind says.
Result<GroupedWrapper> decode_wrapper(const KnownKind& kind, const kube::ObjectRef& object);

struct WrapperList {
  std::vector<TypedObject> objects;
  std::vector<GroupedWrapper> wrappers;
};
// All of one group; all namespaces when `ns` is empty. Those that cannot be understood are left out
// of `wrappers`.
Task<Result<WrapperList>> list_wrappers(Session& session, KnownKind kind, std::string ns,
                                        std::string selector);

}  // namespace codeflare::cli
