#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/job_flags.h"
#include "cli/verbs/verb.h"

namespace codeflare::cli {

extern const Verb kListJob;
extern const Verb kStatusJob;

struct ListJobFlags : JobFlags {
  bool all_namespaces = false;
};
// `codeflare list job`: of one Ray cluster, or of every one of the namespace.
Task<int> run_list_job(Session& session, ListJobFlags flags);
// `codeflare status job NAME`
Task<int> run_status_job(Session& session, JobFlags flags);

}  // namespace codeflare::cli
