#include "cli/verbs/internal/watch_view.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "kube/watcher.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace codeflare::cli::internal {

namespace {

// Many changes come together.
constexpr Duration kSettle = std::chrono::milliseconds(200);
// Changes that no watch reports: times on a terminal, jobs that Ray has.
constexpr Duration kLookAgain = std::chrono::seconds(5);
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

struct Changes {
  bool pending = false;
  WaitList waiting;
};

// Until the task group closes. A kind that cannot be watched is looked at now and then.
Task<void> listen(kube::Watcher& watcher, Changes& changes) {
  while (const Result<kube::WatcherEvent> event = co_await watcher.next()) {
    if (event->type != kube::WatcherEvent::Type::progress) {
      changes.pending = true;
      changes.waiting.notify_all();
    }
  }
}

Task<Result<void>> wait_for(Changes& changes) {
  co_return co_await changes.waiting.wait();
}

Task<Result<void>> next_change(Changes& changes) {
  CO_TRY(co_await sleep_for(kSettle));
  if (!changes.pending) {
    const Result<void> woken = co_await with_timeout(kLookAgain, "a change", wait_for(changes));
    if (!woken && woken.error().code != ErrorCode::deadline_exceeded) {
      co_return woken;
    }
  }
  changes.pending = false;
  co_return Result<void>();
}

// Prints one look after another.
class Printer {
 public:
  explicit Printer(Session& session) : session_(session), began_(session.now()) {}

  void show(const Look& look) {
    Console& console = session_.console();
    const std::string text = look.render(session_.now());
    if (console.out_is_terminal() && is_table(session_.output())) {
      console.out(std::string(kClearScreen) + text);
      return;
    }
    // Passing times do not count as a change.
    const std::string timeless = look.render(began_);
    if (!last_ || !is_table(session_.output())) {
      console.out(timeless == last_ ? "" : text);
    } else {
      console.out(new_lines(*last_, timeless));
    }
    last_ = timeless;
  }

 private:
  Session& session_;
  WallTime began_;
  std::optional<std::string> last_;
};

Task<Result<void>> show_until_end(Session& session, const WatchedView& view, Changes& changes) {
  Printer printer(session);
  while (true) {
    CO_TRY_ASSIGN(const Look look, co_await view.look());
    printer.show(look);
    if (look.ended) {
      co_return Result<void>();
    }
    CO_TRY(co_await next_change(changes));
  }
}

}  // namespace

std::string new_lines(const std::string& before, const std::string& now) {
  std::multiset<std::string> known;
  for (std::string& line : lines_of(before)) {
    known.insert(std::move(line));
  }
  std::string fresh;
  for (const std::string& line : lines_of(now)) {
    if (const auto at = known.find(line); at != known.end()) {
      known.erase(at);
    } else {
      fresh += line;
    }
  }
  return fresh;
}

Task<int> watch_view(Session& session, WatchedView view) {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  Changes changes;
  std::vector<std::unique_ptr<kube::Watcher>> watchers;
  for (const model::ResourceType& kind : view.kinds) {
    watchers.push_back(std::make_unique<kube::Watcher>(session.client(), kind,
                                                       kube::WatcherOptions{.ns = view.ns}));
    group.spawn(listen(*watchers.back(), changes));
  }
  const Result<void> end = co_await show_until_end(session, view, changes);
  co_await group.close();
  co_return end || end.error().code == ErrorCode::cancelled
      ? int{kDone}
      : report_coded(session.console(), end.error());
}

}  // namespace codeflare::cli::internal
