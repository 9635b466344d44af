#pragma once

#include "base/async/task.h"
#include "cli/kinds.h"
#include "cli/session.h"
#include "model/app_wrapper.h"

#include <string>
#include <vector>

namespace codeflare::cli {

struct ListFlags {
  std::string kind;
  bool all_namespaces = false;
  std::string selector;
};
// `codeflare list appwrapper`
Task<int> run_list(Session& session, ListFlags flags);

struct NameFlags {
  std::string kind;
  std::vector<std::string> names;
};
// `codeflare status appwrapper NAME`
Task<int> run_status(Session& session, NameFlags flags);

// `codeflare hold appwrapper NAME...` and `release`: spec.suspend.
Task<int> run_hold(Session& session, NameFlags flags, bool hold);

// Of either group.
Result<model::AppWrapper> decode_wrapper(const kube::ObjectRef& object);

struct WrapperList {
  std::vector<kube::ObjectRef> objects;
  std::vector<model::AppWrapper> wrappers;
};
// All namespaces when `ns` is empty. Those that cannot be understood are left out of `wrappers`.
Task<Result<WrapperList>> list_wrappers(Session& session, KnownKind kind, std::string ns,
                                        std::string selector);

}  // namespace codeflare::cli
