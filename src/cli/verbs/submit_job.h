#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/job_flags.h"
#include "cli/verbs/submit_ddp.h"
#include "cli/verbs/submit_own_cluster.h"
#include "cli/verbs/verb.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kCreateJob;
extern const Verb kSubmitJob;

struct SubmitJobFlags : JobFlags {
  // The first word that is not an option: the name, or with --name part of the command.
  std::string first_word;
  std::vector<std::string> command;
  std::string working_dir;
  std::string runtime_env_file;  // YAML or JSON
  std::string runtime_env_json;
  std::vector<std::string> env;       // KEY=VALUE
  std::vector<std::string> metadata;  // KEY=VALUE
  std::optional<double> num_cpus;
  std::optional<double> num_gpus;
  std::string memory;     // a quantity
  std::string resources;  // JSON: name to number
  bool follow = false;
  bool wait = false;
  DdpFlags ddp;
  OwnClusterFlags own_cluster;
};
// `codeflare submit job NAME -- COMMAND...` on an existing Ray cluster, or with one of its own;
// with a script, a module or NAME.job.yaml a DDP job, on Kubernetes or a named cluster.
Task<int> run_submit_job(Session& session, SubmitJobFlags flags);

}  // namespace codeflare::cli
