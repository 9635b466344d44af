#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/job_flags.h"
#include "cli/verbs/verb.h"

namespace codeflare::cli {

extern const Verb kCancelJob;
extern const Verb kDeleteJob;

struct CancelJobFlags : JobFlags {
  bool wait = true;
};
// `codeflare cancel job NAME`: the record and the log stay.
Task<int> run_cancel_job(Session& session, CancelJobFlags flags);

struct DeleteJobFlags : JobFlags {
  bool wait = true;
  bool ignore_not_found = false;
};
// `codeflare delete job NAME`: stops the job, then removes its record.
Task<int> run_delete_job(Session& session, DeleteJobFlags flags);

}  // namespace codeflare::cli
