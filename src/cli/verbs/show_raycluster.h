#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kStatusRayCluster;
extern const Verb kDetails;
extern const Verb kDetailsRayCluster;
extern const Verb kListRayCluster;
extern const Verb kGet;
extern const Verb kGetRayCluster;

struct ShowRayClusterFlags {
  std::string name;
  bool all_namespaces = false;
  std::string selector;
  bool watch = false;  // of `status` and `list`
};
// `codeflare status raycluster NAME`
Task<int> run_status_raycluster(Session& session, ShowRayClusterFlags flags);
// `codeflare details raycluster NAME`
Task<int> run_details_raycluster(Session& session, ShowRayClusterFlags flags);
// `codeflare list raycluster`: those that wait in the queue included.
Task<int> run_list_raycluster(Session& session, ShowRayClusterFlags flags);
// `codeflare get raycluster [NAME]`: the objects as the server has them.
Task<int> run_get_raycluster(Session& session, ShowRayClusterFlags flags);

}  // namespace codeflare::cli
