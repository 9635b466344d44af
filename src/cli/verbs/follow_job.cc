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
  internal::finish_job(verb, chosen, typed, run_logs_job, internal::kPatienceHelp);
}

void add_wait(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<WaitJobFlags>>();
  internal::add_job_name(verb, typed->flags.name);
  verb.add_option("--for", typed->flags.goal, "finished (default) or running")
      ->check(CLI::IsMember({"finished", "running"}))
      ->type_name("STATE");
  internal::finish_job(verb, chosen, typed, run_wait_job, internal::kWaitHelp);
}

int detached(Session& session, const std::string& again, const sdk::JobTarget& target) {
  session.console().err("detached; the job continues. To attach again: codeflare " + again +
                        internal::target_words(session, target) + "\n");
  return kInterrupted;
}

Task<Result<void>> write_out(Session& session, std::string text) {
  session.console().out(text);
  co_return Result<void>();
}

Task<int> follow(Session& session, sdk::JobTarget target, LogsJobFlags flags) {
  sdk::Jobs jobs = internal::jobs_of(session, flags.timeout);
  ray::LogSink sink = [&session](std::string text) { return write_out(session, std::move(text)); };
  const Result<sdk::JobEnd> end = co_await jobs.follow(target, flags.name, std::move(sink));
  if (!end && end.error().code == ErrorCode::cancelled) {
    co_return detached(session, "logs job " + flags.name + " -f", target);
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

}  // namespace

constinit const Verb kLogsJob = {.word = "logs",
                                 .noun = "job",
                                 .about = "Print the log of a job",
                                 .examples = "codeflare logs job train -c demo -f",
                                 .add = add_logs};
constinit const Verb kWaitJob = {.word = "wait",
                                 .noun = "job",
                                 .about = "Wait until a job runs or has ended",
                                 .examples = "codeflare wait job train -c demo --timeout 600",
                                 .add = add_wait};

Task<int> run_logs_job(Session& session, LogsJobFlags flags) {
  Result<sdk::JobTarget> target = co_await internal::job_target(session, flags);
  if (!target) {
    co_return report_coded(session.console(), target.error());
  }
  if (flags.follow) {
    co_return co_await follow(session, *std::move(target), std::move(flags));
  }
  sdk::Jobs jobs = internal::jobs_of(session, flags.timeout);
  const Result<std::string> log = co_await jobs.logs(*std::move(target), flags.name);
  if (!log) {
    co_return report_coded(session.console(), log.error());
  }
  session.console().out(*log);
  co_return kDone;
}

Task<int> run_wait_job(Session& session, WaitJobFlags flags) {
  const Result<sdk::JobTarget> target = co_await internal::job_target(session, flags);
  if (!target) {
    co_return report_coded(session.console(), target.error());
  }
  sdk::Jobs jobs = internal::jobs_of(session);
  internal::WaitLine line(session);
  sdk::JobWait options{
      .goal = flags.goal == "running" ? sdk::JobGoal::running : sdk::JobGoal::finished,
      .timeout = flags.timeout,
      .observer = [&](const sdk::JobInfo& job) {
        line.show("job/" + flags.name + ": " + one_line(progress_line(job)));
      }};
  const Result<sdk::JobInfo> end = co_await jobs.wait(*target, flags.name, std::move(options));
  if (!end && end.error().code == ErrorCode::cancelled) {
    co_return detached(session, "wait job " + flags.name, *target);
  }
  if (!end) {
    co_return report_coded(session.console(), end.error());
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
