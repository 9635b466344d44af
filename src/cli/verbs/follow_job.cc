#include "cli/verbs/follow_job.h"

#include "cli/verbs/internal/job_flags.h"
#include "cli/verbs/internal/wait_line.h"
#include "cli/views/table.h"
#include "sdk/jobs.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_logs(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<LogsJobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  verb.add_flag("-f,--follow", typed->flags.follow, "continue until the job has ended");
  verb.add_option("--replica", typed->flags.replica, "log of one replica (default: all)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("N");
  verb.add_option("--tail", typed->flags.tail, "last lines of each replica (default: all lines)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("LINES");
  internal::finish_job(verb, chosen, typed, run_logs_job, internal::kPatienceHelp);
}

void add_wait(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<WaitJobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  verb.add_option("--for", typed->flags.goal, "finished (default), running or deleted")
      ->check(CLI::IsMember({"finished", "running", "deleted"}))
      ->type_name("STATE");
  internal::finish_job(verb, chosen, typed, run_wait_job, internal::kWaitHelp);
}

int detached(Session& session, const std::string& again, const internal::OpenJob& job) {
  session.console().err("detached; the job continues. To attach again: codeflare " + again +
                        job.words(session) + "\n");
  return kInterrupted;
}

Task<Result<void>> write_out(Session& session, std::string text) {
  session.console().out(text);
  co_return Result<void>();
}

Task<int> follow(Session& session, internal::OpenJob job, LogsJobFlags flags) {
  internal::WaitLine line(session);
  sdk::JobFollow options{
      .choice = {.replica = flags.replica, .tail = flags.tail},
      .sink =
          [&](std::string text) {
            line.clear();
            return write_out(session, std::move(text));
          },
      .observer =
          [&](const sdk::JobInfo& now) {
            if (now.phase != sdk::JobPhase::running) {
              line.show("job/" + flags.name + ": " + one_line(progress_line(now)));
            } else {
              line.clear();
            }
          }};
  const Result<sdk::JobEnd> end = co_await job->follow(std::move(options));
  line.clear();
  if (!end && end.error().code == ErrorCode::cancelled) {
    co_return detached(session, "logs job " + flags.name + " -f", job);
  }
  if (!end) {
    co_return report_coded(session.console(), end.error());
  }
  if (end->log_error) {
    session.console().err("warning: the end of the log could not be read: " +
                          one_line(end->log_error->message) + "\n");
  }
  session.console().err("job/" + flags.name + " " + one_line(progress_line(end->job)) + "\n");
  co_return end->job.phase == sdk::JobPhase::succeeded ? kDone : kFailed;
}

// The end of a wait that failed.
int report_wait(Session& session, const Error& error, const std::string& again,
                const internal::OpenJob& job) {
  return error.code == ErrorCode::cancelled ? detached(session, again, job)
                                            : report_coded(session.console(), error);
}

Task<int> wait_deleted(Session& session, Result<internal::OpenJob> job, WaitJobFlags flags) {
  if (!job && job.error().code != ErrorCode::not_found) {
    co_return report_coded(session.console(), job.error());
  }
  if (job) {
    internal::WaitLine line(session);
    sdk::JobWait options{.timeout = flags.timeout, .observer = [&](const sdk::JobInfo& now) {
                           line.show("job/" + flags.name + ": " + one_line(progress_line(now)));
                         }};
    const Result<void> gone = co_await (*job)->wait_gone(std::move(options));
    line.clear();
    if (!gone) {
      co_return report_wait(session, gone.error(), "wait job " + flags.name + " --for deleted",
                            *job);
    }
  }
  session.console().out("job/" + flags.name +
                        (session.output() == Output::name ? "\n" : " deleted\n"));
  co_return kDone;
}

}  // namespace

constinit const Verb kLogsJob = {.word = "logs",
                                 .noun = "job",
                                 .about = "Print the log of a job",
                                 .examples = "codeflare logs job train -c demo -f",
                                 .add = add_logs};
constinit const Verb kWaitJob = {.word = "wait",
                                 .noun = "job",
                                 .about = "Wait until a job runs, has ended or is deleted",
                                 .examples = "codeflare wait job train -c demo --timeout 600",
                                 .add = add_wait};

Task<int> run_logs_job(Session& session, LogsJobFlags flags) {
  Result<internal::OpenJob> job = co_await internal::open_job(session, flags);
  if (!job) {
    co_return report_coded(session.console(), job.error());
  }
  if (flags.follow) {
    co_return co_await follow(session, *std::move(job), std::move(flags));
  }
  const Result<std::string> log =
      co_await (*job)->logs({.replica = flags.replica, .tail = flags.tail});
  if (!log) {
    co_return report_coded(session.console(), log.error());
  }
  session.console().out(*log);
  co_return kDone;
}

Task<int> run_wait_job(Session& session, WaitJobFlags flags) {
  JobFlags which = flags;
  which.timeout = {};  // of the wait
  Result<internal::OpenJob> job = co_await internal::open_job(session, std::move(which));
  if (flags.goal == "deleted" && !flags.name.empty()) {
    co_return co_await wait_deleted(session, std::move(job), std::move(flags));
  }
  if (!job) {
    co_return report_coded(session.console(), job.error());
  }
  internal::WaitLine line(session);
  sdk::JobWait options{
      .goal = flags.goal == "running" ? sdk::JobGoal::running : sdk::JobGoal::finished,
      .timeout = flags.timeout,
      .observer = [&](const sdk::JobInfo& now) {
        line.show("job/" + flags.name + ": " + one_line(progress_line(now)));
      }};
  const Result<sdk::JobInfo> end = co_await (*job)->wait(std::move(options));
  line.clear();
  if (!end) {
    co_return report_wait(session, end.error(), "wait job " + flags.name, *job);
  }
  if (session.output() == Output::name) {
    session.console().out("job/" + flags.name + "\n");
  } else if (is_table(session.output())) {
    session.console().out("job/" + flags.name + " " + one_line(progress_line(*end)) + "\n");
  } else {
    session.console().out(machine_text(
        [&](json::Arena& arena) { return sdk::to_json(arena, *end); }, session.output()));
  }
  const bool runs = end->phase == sdk::JobPhase::running;
  co_return runs || end->phase == sdk::JobPhase::succeeded ? kDone : kFailed;
}

}  // namespace codeflare::cli
