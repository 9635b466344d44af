#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/job_flags.h"
#include "cli/verbs/verb.h"

namespace codeflare::cli {

extern const Verb kListJob;
extern const Verb kStatusJob;
extern const Verb kDetailsJob;
extern const Verb kGetJob;
extern const Verb kExplainJob;
extern const Verb kHoldJob;
extern const Verb kReleaseJob;

struct ListJobFlags : JobFlags {
  bool all_namespaces = false;
};
// `codeflare list job`: of one Ray cluster, or of every one of the namespace.
Task<int> run_list_job(Session& session, ListJobFlags flags);
// `codeflare status job NAME`
Task<int> run_status_job(Session& session, JobFlags flags);
// `codeflare details job NAME`: with requests, code package and metadata.
Task<int> run_details_job(Session& session, JobFlags flags);
// `codeflare get job NAME`: the AppWrapper of the job as the server has it, or Ray's record;
// without NAME the records of all jobs.
Task<int> run_get_job(Session& session, JobFlags flags);
// `codeflare explain job NAME`: why its AppWrapper waits; a job on Ray by its status.
Task<int> run_explain_job(Session& session, JobFlags flags);
// `codeflare hold job NAME` and `release`: of a job that is an AppWrapper.
Task<int> run_hold_job(Session& session, JobFlags flags, bool hold);

}  // namespace codeflare::cli
