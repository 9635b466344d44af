#include "cli/verbs/follow_training.h"

#include "base/async/sleep.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/wait_line.h"
#include "cli/views/training_view.h"
#include "controllers/trainingjob/names.h"
#include "kube/typed.h"
#include "model/codec/training_job.h"
#include "queue/training_work.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr Duration kPoll = std::chrono::milliseconds(300);

// A job, or nothing when it is deleted.
using Found = std::optional<model::TrainingJob>;

void add_wait(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<WaitTrainingFlags>>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the TrainingJob")->required();
  verb.add_option("--for", typed->flags.goal, "finished (default), running or deleted")
      ->check(CLI::IsMember({"finished", "running", "deleted"}))
      ->type_name("STATE");
  internal::finish_wait(verb, chosen, typed, run_wait_training);
}

// At least minSize workers train.
bool is_running(const model::TrainingJob& job) {
  return job.status.stage == controllers::trainingjob::stage::kRunning &&
         job.status.ready_size >= queue::sizes_of(job.spec).min;
}

bool is_reached(const std::string& goal, const model::TrainingJob& job) {
  return goal != "deleted" &&
         (queue::is_finished(job.status) || (goal == "running" && is_running(job)));
}

// Until the goal is reached. A job that has ended will not run: it ends that wait too.
Task<Result<Found>> wait_for(Session& session, WaitTrainingFlags flags) {
  internal::WaitLine line(session);
  std::string shown;
  std::string uid;
  kube::Api<model::TrainingJob> jobs(session.client(), session.ns());
  while (true) {
    Result<model::TrainingJob> job = co_await jobs.get(flags.name);
    const bool gone = (!job && job.error().code == ErrorCode::not_found) ||
                      (job && !uid.empty() && job->metadata.uid != uid);
    if (gone && flags.goal == "deleted") {
      co_return Found();
    }
    if (!job) {
      co_return fail(std::move(job).error());
    }
    if (is_reached(flags.goal, *job)) {
      co_return Found(*std::move(job));
    }
    if (std::string now = training_line(*job); now != shown) {
      line.show("trainingjob/" + flags.name + ": " + now);
      shown = std::move(now);
    }
    uid = flags.goal == "deleted" ? job->metadata.uid : "";
    CO_TRY(co_await sleep_for(kPoll));
  }
}

}  // namespace

constinit const Verb kWaitTraining = {
    .word = "wait",
    .noun = "trainingjob",
    .about = "Wait until a TrainingJob is running, finished or deleted",
    .examples = "codeflare wait tj bert --for running --timeout 600",
    .add = add_wait};

Task<int> run_wait_training(Session& session, WaitTrainingFlags flags) {
  const Result<Found> job = flags.timeout == Duration::zero()
                                ? co_await wait_for(session, flags)
                                : co_await with_timeout(flags.timeout, "trainingjob " + flags.name,
                                                        wait_for(session, flags));
  if (!job && job.error().code == ErrorCode::cancelled) {
    session.console().err("detached; the TrainingJob continues. To wait again: codeflare wait tj " +
                          flags.name + " --for " + flags.goal + " -n " + session.ns() + "\n");
    co_return kInterrupted;
  }
  if (!job) {
    co_return report_coded(session.console(), job.error(), "trainingjob " + flags.name);
  }
  const std::string end = *job ? training_line(**job) : "deleted";
  session.console().out("trainingjob/" + flags.name +
                        (session.output() == Output::name ? "\n" : " " + end + "\n"));
  co_return *job&& has_failed(**job) ? kFailed : kDone;
}

}  // namespace codeflare::cli
