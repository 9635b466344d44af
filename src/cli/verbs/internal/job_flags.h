#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/job_flags.h"
#include "sdk/job_handle.h"
#include "sdk/jobs.h"

#include <memory>
#include <string>

namespace codeflare::cli::internal {

// NAME or --name.
void add_job_name(CLI::App& verb, std::string& name);
// -c/--cluster-name and --address.
void add_job_target(CLI::App& verb, JobFlags& flags);

// Paths of the command line count from the working directory. A dashboard that does not answer is
// tried for `patience`; zero: the usual.
sdk::Jobs jobs_of(Session& session, Duration patience = {});
// The cluster that the flags mean: the named one, else the only one of the namespace. Fails also
// when the name of the job is missing.
Task<Result<sdk::JobTarget>> job_target(Session& session, JobFlags flags);
// " -c demo -n team": what reaches the same cluster in another command.
std::string target_words(const Session& session, const sdk::JobTarget& target);

// A job that exists, or may exist on a Ray cluster.
struct OpenJob {
  std::unique_ptr<sdk::Jobs> jobs;
  std::unique_ptr<sdk::JobHandle> handle;

  sdk::JobHandle* operator->() const { return handle.get(); }
  // Options that reach the same job in another command: " -c demo -n team".
  std::string words(const Session& session) const;
};
Task<Result<OpenJob>> open_job(Session& session, JobFlags flags);

// The end of the options of a verb for jobs, which Ctrl-C cancels. With an address no kubeconfig is
// needed.
template <typename Flags>
void finish_job(CLI::App& verb, Chosen& chosen, const std::shared_ptr<Typed<Flags>>& typed,
                Task<int> (*run)(Session&, Flags), std::string about_timeout) {
  add_job_target(verb, typed->flags);
  add_connection_flags(verb, typed->session);
  add_timeout(verb, typed->flags.timeout, std::move(about_timeout));
  verb.callback([&chosen, typed, run] {
    chosen = [typed, run] {
      const auto start = [&](Session& session) { return run(session, typed->flags); };
      return typed->flags.address.empty() ? run_waiting(typed->session, start)
                                          : run_waiting_offline(typed->session, start);
    };
  });
}
inline constexpr const char* kPatienceHelp =
    "time limit for a dashboard that does not answer (default 60)";
inline constexpr const char* kWaitHelp = "time limit of the wait (default: none)";

}  // namespace codeflare::cli::internal
