#include "cli/verbs/follow_run.h"

#include "base/async/sleep.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/wait_line.h"
#include "cli/verbs/logs.h"
#include "cli/views/table.h"
#include "kube/typed.h"
#include "model/codec/platform.h"
#include "model/codec/pod.h"
#include "platform/names.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

constexpr Duration kPoll = std::chrono::milliseconds(300);

void add_logs(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<LogsRunFlags>>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the run")->required();
  verb.add_flag("-f,--follow", typed->flags.follow, "follow the first pod until the run has ended");
  verb.add_option("--tail", typed->flags.tail, "the last lines of each pod alone")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("LINES");
  internal::finish(verb, chosen, typed, run_logs_run);
}

void add_wait(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<WaitRunFlags>>();
  verb.add_option("NAME,--name", typed->flags.name, "name of the run")->required();
  verb.add_option("--for", typed->flags.goal, "finished (default) or running")
      ->check(CLI::IsMember({"finished", "running"}))
      ->type_name("STATE");
  internal::finish_wait(verb, chosen, typed, run_wait_run);
}

std::string line_of(const model::Run& run) {
  const model::RunStatus& status = run.status;
  return (status.phase.empty() ? "Pending" : status.phase) +
         (status.progress.empty() ? "" : ", epoch " + status.epoch + ": " + status.progress) +
         (status.message.empty() ? "" : ": " + one_line(status.message));
}

int code_of(const model::Run& run) {
  return run.status.phase == model::run_phase::kFailed ? kFailed : kDone;
}

// Until the goal is reached or the Run has ended.
Task<Result<model::Run>> wait_for(Session& session, WaitRunFlags flags) {
  internal::WaitLine line(session);
  std::string shown;
  kube::Api<model::Run> runs(session.client(), session.ns());
  while (true) {
    CO_TRY_ASSIGN(const model::Run run, co_await runs.get(flags.name));
    const bool reached = flags.goal == "running" && run.status.phase == model::run_phase::kRunning;
    if (reached || model::is_terminal(run.status)) {
      co_return run;
    }
    if (std::string now = line_of(run); now != shown) {
      line.show("run/" + flags.name + ": " + now);
      shown = std::move(now);
    }
    CO_TRY(co_await sleep_for(kPoll));
  }
}

Task<Result<std::vector<model::Pod>>> pods_of(Session& session, std::string name) {
  kube::Api<model::Pod> pods(session.client(), session.ns());
  CO_TRY_ASSIGN(auto list, co_await pods.list(
                               {.label_selector = std::string(platform::kRunLabel) + "=" + name}));
  co_return std::move(list.items);
}

Task<Result<void>> print_log(Session& session, model::ObjectKey pod, std::string container,
                             std::string prefix, LogsRunFlags flags) {
  CO_TRY_ASSIGN(net::Body body,
                co_await session.client().logs(pod, {.container = std::move(container),
                                                     .follow = flags.follow,
                                                     .tail_lines = flags.tail}));
  LinePrefix lines(std::move(prefix));
  while (body != nullptr) {
    CO_TRY_ASSIGN(const Bytes piece, co_await body->read());
    if (piece.empty()) {
      break;
    }
    session.console().out(lines.take(piece.view()));
  }
  session.console().out(lines.rest());
  co_return Result<void>();
}

Task<int> follow_head(Session& session, LogsRunFlags flags) {
  WaitRunFlags until{.name = flags.name, .goal = "running"};
  Result<model::Run> run = co_await wait_for(session, std::move(until));
  if (!run) {
    co_return report_coded(session.console(), run.error(), "run " + flags.name);
  }
  if (!run->status.head_pod.empty()) {
    model::ObjectKey pod{session.ns(), run->status.head_pod};
    const Result<void> printed = co_await print_log(session, std::move(pod), "", "", flags);
    if (!printed && printed.error().code != ErrorCode::not_found) {
      co_return report_coded(session.console(), printed.error(), "run " + flags.name);
    }
  }
  WaitRunFlags end{.name = flags.name, .goal = "finished"};
  run = co_await wait_for(session, std::move(end));
  if (!run) {
    co_return report_coded(session.console(), run.error(), "run " + flags.name);
  }
  session.console().err("run/" + flags.name + " " + line_of(*run) + "\n");
  co_return code_of(*run);
}

}  // namespace

constinit const Verb kLogsRun = {.word = "logs",
                                 .noun = "run",
                                 .about = "Print the logs of a run",
                                 .examples = "codeflare logs run train -f",
                                 .add = add_logs};
constinit const Verb kWaitRun = {.word = "wait",
                                 .noun = "run",
                                 .about = "Wait until a run is running or has ended",
                                 .examples = "codeflare wait run train --timeout 600",
                                 .add = add_wait};

Task<int> run_logs_run(Session& session, LogsRunFlags flags) {
  if (flags.follow) {
    co_return co_await follow_head(session, std::move(flags));
  }
  kube::Api<model::Run> runs(session.client(), session.ns());
  if (const Result<model::Run> run = co_await runs.get(flags.name); !run) {
    co_return report_coded(session.console(), run.error(), "run " + flags.name);
  }
  const Result<std::vector<model::Pod>> pods = co_await pods_of(session, flags.name);
  if (!pods) {
    co_return report_coded(session.console(), pods.error(), "run " + flags.name);
  }
  if (pods->empty()) {
    session.console().err("run/" + flags.name + " has no pods\n");
  }
  int code = kDone;
  for (const model::Pod& pod : *pods) {
    for (const model::Container& container : pod.spec.containers) {
      std::string prefix = pods->size() > 1 ? pod.metadata.name + ": " : "";
      const Result<void> printed =
          co_await print_log(session, pod.metadata.key(), container.name, std::move(prefix), flags);
      if (!printed) {
        code = report_coded(session.console(), printed.error(), "pod " + pod.metadata.name);
      }
    }
  }
  co_return code;
}

Task<int> run_wait_run(Session& session, WaitRunFlags flags) {
  Result<model::Run> run =
      flags.timeout == Duration::zero()
          ? co_await wait_for(session, flags)
          : co_await with_timeout(flags.timeout, "run " + flags.name, wait_for(session, flags));
  if (!run && run.error().code == ErrorCode::cancelled) {
    session.console().err("detached; the run continues. To wait again: codeflare wait run " +
                          flags.name + " -n " + session.ns() + "\n");
    co_return kInterrupted;
  }
  if (!run) {
    co_return report_coded(session.console(), run.error(), "run " + flags.name);
  }
  session.console().out("run/" + flags.name +
                        (session.output() == Output::name ? "\n" : " " + line_of(*run) + "\n"));
  co_return code_of(*run);
}

}  // namespace codeflare::cli
