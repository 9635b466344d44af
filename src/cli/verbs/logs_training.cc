#include "cli/verbs/logs_training.h"

#include "base/async/sleep.h"
#include "cli/verbs/internal/log_streams.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/training_view.h"
#include "controllers/trainingjob/names.h"
#include "kube/typed.h"
#include "model/codec/pod.h"
#include "model/codec/training_job.h"
#include "queue/training_work.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(500);

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<LogsTrainingFlags>>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the TrainingJob")->required();
  verb.add_flag("-f,--follow", typed->flags.follow,
                "follow the logs until the job has ended, new workers included");
  verb.add_option("--worker", typed->flags.worker, "index of one worker (default: all)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("N");
  verb.add_option("--tail", typed->flags.tail, "number of last lines to print of each worker")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("LINES");
  internal::finish(verb, chosen, typed, run_logs_training, {});
}

// The job and its pods at one moment.
struct Look {
  model::TrainingJob job;
  std::vector<model::Pod> pods;
};

Task<Result<Look>> look(Session& session, LogsTrainingFlags flags) {
  namespace names = controllers::trainingjob;
  kube::Api<model::TrainingJob> jobs(session.client(), session.ns());
  kube::Api<model::Pod> pods(session.client(), session.ns());
  Look seen;
  CO_TRY_ASSIGN(seen.job, co_await jobs.get(flags.name));
  std::string selector = std::string(names::kJobLabel) + "=" + flags.name;
  if (flags.worker) {
    selector += "," + std::string(names::kIndexLabel) + "=" + std::to_string(*flags.worker);
  }
  CO_TRY_ASSIGN(auto list, co_await pods.list({.label_selector = std::move(selector)}));
  seen.pods = std::move(list.items);
  co_return seen;
}

std::string why_silent(const Look& seen, const LogsTrainingFlags& flags) {
  const std::string who =
      flags.worker ? "worker " + std::to_string(*flags.worker) : std::string("no worker");
  return "trainingjob " + flags.name + ": " + who +
         (flags.worker ? " has not started: " : " has started: ") + training_line(seen.job);
}

Task<Result<Look>> follow(Session& session, internal::LogStreams& streams,
                          LogsTrainingFlags flags) {
  ProgressLine progress(session.console());
  while (true) {
    CO_TRY_ASSIGN(Look seen, co_await look(session, flags));
    if (streams.begin(seen.pods)) {
      progress.clear();
    }
    if (queue::is_finished(seen.job.status)) {
      progress.clear();
      co_await streams.join();
      co_return seen;
    }
    if (streams.size() == 0) {
      progress.show(why_silent(seen, flags));
    }
    CO_TRY(co_await sleep_for(kLook));
  }
}

}  // namespace

constinit const Verb kLogsTraining = {.word = "logs",
                                      .noun = "trainingjob",
                                      .about = "Print the logs of the workers of a TrainingJob",
                                      .examples = "codeflare logs tj bert -f --worker 0",
                                      .add = add_options};

Task<int> run_logs_training(Session& session, LogsTrainingFlags flags) {
  internal::LogStreams streams(session, {.container = std::string(queue::kTrainingContainer),
                                         .follow = flags.follow,
                                         .tail = flags.tail});
  const Result<Look> seen =
      flags.follow ? co_await follow(session, streams, flags) : co_await look(session, flags);
  if (seen && !flags.follow && !co_await streams.read(seen->pods)) {
    session.console().err(why_silent(*seen, flags) + "\n");
  }
  co_await streams.close();
  if (!seen && seen.error().code == ErrorCode::cancelled) {
    co_return kInterrupted;
  }
  if (!seen) {
    co_return report_coded(session.console(), seen.error(), "trainingjob " + flags.name);
  }
  if (flags.follow && has_failed(seen->job)) {
    session.console().err("trainingjob " + flags.name + ": " + training_line(seen->job) + "\n");
    co_return kFailed;
  }
  co_return streams.code();
}

}  // namespace codeflare::cli
