#include "cli/verbs/internal/queue_watch.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "cli/gather/queue_state.h"
#include "cli/gather/wrappers.h"
#include "cli/views/kinds.h"
#include "cli/views/queue_view.h"
#include "kube/watcher.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::cli::internal {

namespace {

// Many changes come together; waits grow meanwhile.
constexpr Duration kSettle = std::chrono::milliseconds(200);
constexpr Duration kRedraw = std::chrono::seconds(5);
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

using Known = std::map<model::ObjectKey, GroupedWrapper>;

// The output of a watch so far.
class Follower {
 public:
  Follower(Session& session, const QueueState& seen, std::string controller_ns,
           QueueOptions options)
      : session_(session),
        controller_ns_(std::move(controller_ns)),
        state_(seen),
        options_(std::move(options)) {
    add_part(app_wrapper_kind(), seen.ns);
    if (seen.legacy) {
      add_part(legacy_app_wrapper_kind(), seen.ns);
    }
  }

  // Tasks of one session: one draws, the others hear. Ends with the first error.
  Task<Result<void>> run() {
    std::vector<Task<Result<void>>> tasks;
    for (const std::unique_ptr<Part>& part : parts_) {
      tasks.push_back(listen(*part));
    }
    tasks.push_back(draw());
    auto first = co_await when_any(std::move(tasks));
    co_return std::move(first.value);
  }

 private:
  // The AppWrappers of one group.
  struct Part {
    Part(kube::Client& client, const KnownKind& known_kind, std::string ns)
        : kind(known_kind), watcher(client, kind.type, {.ns = std::move(ns)}) {}
    KnownKind kind;
    kube::Watcher watcher;
    Known known{};
    Known incoming{};
    bool synced = false;
  };

  void add_part(const KnownKind& kind, std::string ns) {
    parts_.push_back(std::make_unique<Part>(session_.client(), kind, std::move(ns)));
  }

  bool synced() const {
    return std::ranges::all_of(parts_, [](const auto& part) { return part->synced; });
  }

  Task<Result<void>> listen(Part& part) {
    while (true) {
      CO_TRY_ASSIGN(const kube::WatcherEvent event, co_await part.watcher.next());
      take(part, event);
      if (synced()) {
        changed_.notify_all();
      }
    }
  }

  void take(Part& part, const kube::WatcherEvent& event) {
    using Type = kube::WatcherEvent::Type;
    switch (event.type) {
      case Type::init_begin:
        part.incoming.clear();
        break;
      case Type::init_object:
        put(part, part.incoming, event.object);
        break;
      case Type::init_done:
        part.known = std::move(part.incoming);
        part.incoming = {};
        part.synced = dirty_ = true;
        break;
      case Type::applied:
        put(part, part.known, event.object);
        dirty_ = true;
        break;
      case Type::deleted:
        part.known.erase(event.object->key());
        dirty_ = true;
        break;
      case Type::progress:
        break;
    }
  }

  static void put(const Part& part, Known& known, const kube::ObjectRef& object) {
    if (Result<GroupedWrapper> wrapper = decode_wrapper(part.kind, object)) {
      known.insert_or_assign(object->key(), *std::move(wrapper));
    }
  }

  Task<Result<void>> draw() {
    while (!synced()) {
      CO_TRY(co_await changed_.wait());
    }
    while (true) {
      dirty_ = false;
      std::string ns = controller_ns_;
      state_.note = co_await read_note(session_, std::move(ns));
      co_await look_at_jobs(session_, state_);
      show();
      CO_TRY(co_await sleep_for(kSettle));
      const Instant next = after(session_.env().clock.now(), kRedraw);
      while (!dirty_ && session_.env().clock.now() < next) {
        CO_TRY(co_await sleep_for(kSettle));
      }
    }
  }

  void show() {
    std::vector<GroupedWrapper>& wrappers = state_.wrappers;
    wrappers.clear();
    for (const std::unique_ptr<Part>& part : parts_) {
      for (const auto& [key, wrapper] : part->known) {
        wrappers.push_back(wrapper);
      }
    }
    const WallTime now = session_.now();
    QueueView queue = queue_of(wrappers, state_.note.settings, state_.note.paused, now,
                               state_.trees, state_.jobs);
    Console& console = session_.console();
    if (session_.output() == Output::json) {
      console.out(changes_json(last_.value_or(QueueView()), queue, options_, now));
    } else if (console.out_is_terminal()) {
      console.out(std::string(kClearScreen) + render_queue(queue, options_, now));
    } else if (!last_) {
      console.out(render_queue(queue, options_, now));
    } else {
      console.out(render_changes(*last_, queue, options_));
    }
    last_ = std::move(queue);
  }

  Session& session_;
  std::string controller_ns_;
  std::vector<std::unique_ptr<Part>> parts_;
  QueueState state_;  // at the last look; the AppWrappers are those of the watch
  QueueOptions options_;
  bool dirty_ = false;
  WaitList changed_;
  std::optional<QueueView> last_;
};

}  // namespace

Task<int> watch_queue(Session& session, std::string controller_ns, QueueOptions options) {
  // Reports at once errors that a watcher would always retry: no such kind, forbidden, no server.
  std::string ns = controller_ns;
  const Result<QueueState> state = co_await look_at_queue(session, std::move(ns));
  if (!state) {
    co_return report(session.console(), state.error());
  }
  tell_scope(session, *state);
  Follower follower(session, *state, std::move(controller_ns), std::move(options));
  const Result<void> end = co_await follower.run();
  co_return end || end.error().code == ErrorCode::cancelled
      ? int{kDone}
      : report(session.console(), end.error());
}

}  // namespace codeflare::cli::internal
