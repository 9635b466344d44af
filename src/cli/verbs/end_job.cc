#include "cli/verbs/end_job.h"

#include "cli/verbs/internal/job_flags.h"
#include "sdk/jobs.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_cancel(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<CancelJobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  verb.add_flag("--wait,!--no-wait", typed->flags.wait,
                "wait until the job has ended (default true)");
  internal::finish_job(verb, chosen, typed, run_cancel_job, internal::kPatienceHelp);
}

void add_delete(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<DeleteJobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  verb.add_flag("--wait,!--no-wait", typed->flags.wait,
                "wait until the job is gone (default true)");
  verb.add_flag("--ignore-not-found", typed->flags.ignore_not_found,
                "success if the job does not exist");
  internal::finish_job(verb, chosen, typed, run_delete_job, internal::kPatienceHelp);
}

// False: the job is stopping, and its record stays.
Task<Result<bool>> remove(const internal::OpenJob& job, bool wait) {
  if (!wait) {
    co_return co_await job->start_removal();
  }
  CO_TRY(co_await job->remove());
  co_return true;
}

}  // namespace

constinit const Verb kCancelJob = {.word = "cancel",
                                   .noun = "job",
                                   .about = "Stop a job; its status and log stay",
                                   .examples = "codeflare cancel job train -c demo",
                                   .add = add_cancel};
constinit const Verb kDeleteJob = {.word = "delete",
                                   .noun = "job",
                                   .about = "Stop a job and remove its record",
                                   .examples = "codeflare delete job train -c demo",
                                   .add = add_delete};

Task<int> run_cancel_job(Session& session, CancelJobFlags flags) {
  const Result<internal::OpenJob> job = co_await internal::open_job(session, flags);
  if (!job) {
    co_return report_coded(session.console(), job.error());
  }
  const Result<sdk::JobStop> stop = co_await (*job)->stop(flags.wait);
  if (!stop) {
    co_return report_coded(session.console(), stop.error());
  }
  const std::string phase(to_string(stop->job.phase));
  if (session.output() == Output::name) {
    session.console().out("job/" + flags.name + "\n");
  } else if (!stop->was_running) {
    session.console().out("job/" + flags.name + " has already ended: " + phase + "\n");
  } else {
    session.console().out("job/" + flags.name + (flags.wait ? " " + phase : " stopping") + "\n");
  }
  co_return kDone;
}

Task<int> run_delete_job(Session& session, DeleteJobFlags flags) {
  const Result<internal::OpenJob> job = co_await internal::open_job(session, flags);
  const Result<bool> removed =
      job ? co_await remove(*job, flags.wait) : Result<bool>(fail(job.error()));
  const bool missing = !removed && removed.error().code == ErrorCode::not_found;
  if (missing && flags.ignore_not_found) {
    co_return kDone;
  }
  if (!removed) {
    co_return report_coded(session.console(), removed.error());
  }
  if (session.output() == Output::name) {
    session.console().out("job/" + flags.name + "\n");
  } else if (*removed) {
    session.console().out("job/" + flags.name + " deleted\n");
  } else {
    session.console().out("job/" + flags.name +
                          " stopping; its record stays. To remove the record: codeflare delete "
                          "job " +
                          flags.name + job->words(session) + "\n");
  }
  co_return kDone;
}

}  // namespace codeflare::cli
