#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/submit_ddp.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kDefineJob;

struct DefineJobFlags {
  // The first word that is not an option: the name, or with --name an argument of the script.
  std::string first_word;
  DdpJob job;
  DdpFlags ddp;
  bool force = false;
};
// `codeflare define job NAME`: writes NAME.job.yaml; asks no server.
Task<int> run_define_job(Session& session, DefineJobFlags flags);

}  // namespace codeflare::cli
