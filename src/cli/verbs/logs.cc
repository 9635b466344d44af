#include "cli/verbs/logs.h"

#include "base/async/sleep.h"
#include "cli/gather/find_wrapper.h"
#include "cli/gather/work.h"
#include "cli/gather/wrappers.h"
#include "cli/verbs/follow_run.h"
#include "cli/verbs/internal/log_streams.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/start_notes.h"
#include "cli/verbs/logs_training.h"
#include "cli/views/kinds.h"
#include "cli/views/table.h"
#include "cli/views/wrapper_view.h"
#include "model/pod.h"
#include "queue/pod_trouble.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(500);

// The AppWrapper and its pods at one moment. No wrapper: it is gone.
struct Look {
  std::optional<GroupedWrapper> wrapper;
  FoundPods found;

  bool over() const { return !wrapper || model::is_terminal(wrapper->status); }
};

class Reader {
 public:
  Reader(Session& session, KnownKind kind, LogsFlags flags)
      : session_(session),
        kind_(std::move(kind)),
        flags_(std::move(flags)),
        streams_(session, {.container = flags_.container,
                           .follow = flags_.follow,
                           .timestamps = flags_.timestamps,
                           .tail = flags_.tail}),
        notes_(session) {}

  Task<int> run() {
    Result<Look> first = co_await first_look();
    if (!first && first.error().code == ErrorCode::not_found && flags_.container.empty() &&
        !flags_.timestamps) {
      if (const std::optional<int> code = co_await run_instead()) {
        co_return *code;
      }
    }
    if (!first) {
      co_return report(session_.console(), first.error());
    }
    const Result<void> read =
        flags_.follow ? co_await follow(*std::move(first)) : co_await read_once(*std::move(first));
    co_await streams_.close();
    if (!read && read.error().code != ErrorCode::cancelled) {
      co_return report(session_.console(), read.error());
    }
    co_return code_ == kDone ? streams_.code() : code_;
  }

 private:
  // A name alone may be that of a TrainingJob or a Run.
  Task<std::optional<int>> run_instead() {
    const std::string noun = co_await noun_instead(session_, kind_, flags_.name);
    if (noun == "trainingjob") {
      LogsTrainingFlags flags{.name = flags_.name, .follow = flags_.follow, .tail = flags_.tail};
      co_return co_await run_logs_training(session_, std::move(flags));
    }
    if (noun == "run") {
      LogsRunFlags flags{.name = flags_.name, .follow = flags_.follow, .tail = flags_.tail};
      co_return co_await run_logs_run(session_, std::move(flags));
    }
    co_return std::nullopt;
  }

  // Also settles the group.
  Task<Result<Look>> first_look() {
    std::string name = flags_.name;
    CO_TRY_ASSIGN(FoundWrapper found,
                  co_await find_wrapper(session_, kind_, std::move(name), Use::read));
    kind_ = std::move(found.kind);
    flags_.name = found.object->name();
    co_return co_await look_at(std::move(found.object));
  }

  Task<Result<Look>> look() {
    Result<kube::ObjectRef> object =
        co_await session_.client().get(kind_.type, {session_.ns(), flags_.name});
    if (!object && object.error().code == ErrorCode::not_found) {
      co_return Look();
    }
    if (!object) {
      co_return fail(std::move(object).error());
    }
    co_return co_await look_at(*std::move(object));
  }

  Task<Result<Look>> look_at(kube::ObjectRef object) {
    Look seen;
    CO_TRY_ASSIGN(seen.wrapper, decode_wrapper(kind_, object));
    GroupedWrapper wrapper = *seen.wrapper;
    CO_TRY_ASSIGN(seen.found, co_await find_pods(session_, std::move(wrapper)));
    streams_.read_from(seen.found.elsewhere);
    co_return seen;
  }

  Task<Result<void>> read_once(Look seen) {
    if (!co_await streams_.read(seen.found.pods)) {
      session_.console().err(why_silent(seen) + "\n");
    }
    co_return Result<void>();
  }

  Task<Result<void>> follow(Look seen) {
    ProgressLine progress(session_.console());
    while (true) {
      if (streams_.begin(seen.found.pods)) {
        progress.clear();
      }
      if (seen.over()) {
        break;
      }
      if (const std::string note = co_await notes_.next(*seen.wrapper, seen.found); !note.empty()) {
        progress.clear();
        session_.console().err(kind_.word() + " " + flags_.name + ": " + note + "\n");
      }
      if (streams_.size() == 0) {
        progress.show(why_silent(seen));
      }
      CO_TRY(co_await sleep_for(kLook));
      CO_TRY_ASSIGN(seen, co_await look());
    }
    progress.clear();
    co_await streams_.join();
    tell_end(seen);
    co_return Result<void>();
  }

  void tell_end(const Look& seen) {
    if (!seen.wrapper) {
      session_.console().err(kind_.word() + " " + flags_.name + " was deleted\n");
      code_ = kFailed;
    } else if (seen.wrapper->status.state != model::app_wrapper_state::kCompleted) {
      const WrapperView view = view_of(*seen.wrapper);
      session_.console().err(kind_.word() + " " + flags_.name + " is " + view.state +
                             (view.message.empty() ? "" : ": " + one_line(view.message)) + "\n");
      code_ = kFailed;
    }
  }

  std::string why_silent(const Look& seen) const {
    const std::string who = kind_.word() + " " + flags_.name;
    if (const auto trouble = queue::worst_trouble(seen.found.pods)) {
      return who + ": " + one_line(trouble->text());
    }
    if (!seen.found.pods.empty()) {
      return who + ": 0 of " + std::to_string(seen.found.pods.size()) + " pods started yet";
    }
    const WrapperView view = seen.wrapper ? view_of(*seen.wrapper) : WrapperView();
    return who + " has no pods; its state is " + view.state +
           (view.reason.empty() ? "" : " (" + view.reason + ")") + "; run 'codeflare explain " +
           who + "' for the reason";
  }

  Session& session_;
  KnownKind kind_;
  LogsFlags flags_;
  internal::LogStreams streams_;
  internal::StartNotes notes_;
  int code_ = kDone;
};

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<LogsFlags>>();
  verb.add_option("KIND", typed->flags.kind, internal::kKindHelp)->required();
  verb.add_option("NAME", typed->flags.name, "name of the object");
  verb.add_flag("-f,--follow", typed->flags.follow,
                "follow the logs until the work has ended, new pods included");
  verb.add_option("--tail", typed->flags.tail, "number of last lines to print of each container")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("LINES");
  verb.add_option("-c,--container", typed->flags.container, "container of each pod (default: all)")
      ->type_name("NAME");
  verb.add_flag("--timestamps", typed->flags.timestamps, "print the time of each line");
  internal::finish(verb, chosen, typed, run_logs, {});
}

}  // namespace

constinit const Verb kLogs = {.word = "logs",
                              .about = "Print the logs of all pods of an object",
                              .examples = "codeflare logs train -f",
                              .add = add_options,
                              .takes_kind = true};

Task<int> run_logs(Session& session, LogsFlags flags) {
  const Result<KindNames> typed = read_names(flags.kind, one_name(flags.name));
  if (!typed) {
    co_return report_usage(session.console(), typed.error().message);
  }
  flags.name = typed->names.front();
  Reader reader(session, typed->kind, std::move(flags));
  co_return co_await reader.run();
}

}  // namespace codeflare::cli
