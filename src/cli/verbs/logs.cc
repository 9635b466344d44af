#include "cli/verbs/logs.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "cli/gather/find_wrapper.h"
#include "cli/gather/work.h"
#include "cli/gather/wrappers.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/kinds.h"
#include "cli/views/table.h"
#include "cli/views/wrapper_view.h"
#include "model/pod.h"
#include "queue/pod_trouble.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(500);
// A line that never ends is cut: it must not grow without bound.
constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;

// One run of one container.
struct Source {
  model::ObjectKey pod;
  std::string uid;
  std::string container;
  std::int32_t run = 0;
  bool alone = true;  // in its pod

  auto id() const { return std::tuple(uid, container, run); }
  std::string prefix() const { return "[" + pod.name + (alone ? "" : "/" + container) + "] "; }
};

bool has_started(const model::ContainerStatus& status) {
  return status.state.running || status.state.terminated || status.restart_count > 0;
}

// What has begun in the pods, by pod, init containers first.
std::vector<Source> sources_of(const std::vector<model::Pod>& pods, const std::string& only) {
  std::vector<Source> sources;
  for (const model::Pod& pod : pods) {
    const bool alone = pod.spec.init_containers.size() + pod.spec.containers.size() == 1;
    for (const auto* list : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
      for (const model::ContainerStatus& status : *list) {
        if (has_started(status) && (only.empty() || status.name == only)) {
          sources.push_back({.pod = pod.metadata.key(),
                             .uid = pod.metadata.uid,
                             .container = status.name,
                             .run = status.restart_count,
                             .alone = alone});
        }
      }
    }
  }
  return sources;
}

// The AppWrapper and its pods at one moment. No wrapper: it is gone.
struct Look {
  std::optional<GroupedWrapper> wrapper;
  std::vector<model::Pod> pods;

  bool over() const { return !wrapper || model::is_terminal(wrapper->status); }
};

class Reader {
 public:
  Reader(Session& session, KnownKind kind, LogsFlags flags)
      : session_(session),
        kind_(std::move(kind)),
        flags_(std::move(flags)),
        streams_(session.env().loop) {}

  Task<int> run() {
    Result<Look> first = co_await first_look();
    if (!first) {
      co_return report(session_.console(), first.error());
    }
    const Result<void> read =
        flags_.follow ? co_await follow(*std::move(first)) : co_await read_once(*std::move(first));
    co_await streams_.close();
    if (!read && read.error().code != ErrorCode::cancelled) {
      co_return report(session_.console(), read.error());
    }
    co_return code_;
  }

 private:
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
    CO_TRY_ASSIGN(seen.pods, co_await list_pods(session_, std::move(wrapper)));
    co_return seen;
  }

  Task<Result<void>> read_once(Look seen) {
    const std::vector<Source> sources = sources_of(seen.pods, flags_.container);
    for (const Source& source : sources) {
      Source copy = source;
      co_await stream(std::move(copy), flags_.tail);
    }
    if (sources.empty()) {
      session_.console().err(why_silent(seen) + "\n");
    }
    co_return Result<void>();
  }

  Task<Result<void>> follow(Look seen) {
    ProgressLine progress(session_.console());
    std::optional<std::int64_t> tail = flags_.tail;
    while (true) {
      for (Source& source : sources_of(seen.pods, flags_.container)) {
        if (begun_.insert(source.id()).second) {
          progress.clear();
          streams_.spawn(stream(std::move(source), tail));
        }
      }
      tail.reset();  // what comes later is shown from its beginning
      if (seen.over()) {
        break;
      }
      if (const std::string trouble = lasting_trouble(seen); trouble != told_) {
        progress.clear();
        told_ = trouble;
        if (!trouble.empty()) {
          session_.console().err(kind_.word() + " " + flags_.name + ": " + trouble + "\n");
        }
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

  // Trouble that keeps a pod from running and will hardly heal; empty: none.
  static std::string lasting_trouble(const Look& seen) {
    const std::optional<queue::PodTrouble> trouble = queue::worst_trouble(seen.pods);
    return trouble && trouble->lasting ? one_line(trouble->text()) : "";
  }

  std::string why_silent(const Look& seen) const {
    const std::string who = kind_.word() + " " + flags_.name;
    if (const auto trouble = queue::worst_trouble(seen.pods)) {
      return who + ": " + one_line(trouble->text());
    }
    if (!seen.pods.empty()) {
      return who + ": 0 of " + std::to_string(seen.pods.size()) + " pods started yet";
    }
    const WrapperView view = seen.wrapper ? view_of(*seen.wrapper) : WrapperView();
    return who + " has no pods; its state is " + view.state +
           (view.reason.empty() ? "" : " (" + view.reason + ")") + "; run 'codeflare explain " +
           who + "' for the reason";
  }

  Task<void> stream(Source source, std::optional<std::int64_t> tail) {
    kube::LogOptions options{.container = source.container,
                             .follow = flags_.follow,
                             .timestamps = flags_.timestamps,
                             .tail_lines = tail};
    Result<net::Body> body = co_await session_.client().logs(source.pod, std::move(options));
    LinePrefix lines(source.prefix());
    Result<void> end = body ? Result<void>() : fail(std::move(body).error());
    while (end && *body != nullptr) {
      const Result<Bytes> piece = co_await (*body)->read();
      if (!piece) {
        end = fail(piece.error());
      } else if (piece->empty()) {
        break;
      } else {
        show(lines.take(piece->view()));
      }
    }
    show(lines.rest());
    if (!end && end.error().code != ErrorCode::cancelled) {
      code_ =
          report(session_.console(), std::move(end).error().with_context("pod " + source.pod.name));
    }
  }

  void show(const std::string& lines) {
    if (!lines.empty()) {
      session_.console().out(lines);
    }
  }

  Session& session_;
  KnownKind kind_;
  LogsFlags flags_;
  std::set<std::tuple<std::string, std::string, std::int32_t>> begun_;
  TaskGroup streams_;
  std::string told_;  // the trouble of pods that was reported last
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

std::string LinePrefix::take(std::string_view piece) {
  std::string out;
  begun_ += piece;
  std::size_t at = 0;
  for (std::size_t end = begun_.find('\n'); end != std::string::npos; end = begun_.find('\n', at)) {
    out += prefix_;
    out.append(begun_, at, end + 1 - at);
    at = end + 1;
  }
  begun_.erase(0, at);
  return begun_.size() > kLineBytesMax ? out + rest() : out;
}

std::string LinePrefix::rest() {
  return begun_.empty() ? "" : prefix_ + std::exchange(begun_, {}) + "\n";
}

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
