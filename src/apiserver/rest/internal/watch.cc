#include "apiserver/rest/internal/encode.h"
#include "apiserver/rest/internal/errors.h"
#include "apiserver/rest/internal/handlers.h"
#include "apiserver/rest/internal/list_options.h"
#include "apiserver/rest/internal/response.h"
#include "apiserver/rest/internal/selection.h"
#include "apiserver/store/change_listener.h"
#include "base/async/sleep.h"
#include "base/async/wait_list.h"
#include "json/write.h"
#include "model/status.h"

#include <coroutine>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::apiserver::internal {
namespace {

constexpr Duration kBookmarkEvery = std::chrono::seconds(60);
constexpr Duration kBookmarkBeforeEnd = std::chrono::seconds(2);
constexpr std::int64_t kTimeoutSecondsMin = 1800;
// Pieces made ready at once: a slow reader holds these and a cursor, no more.
constexpr std::size_t kReadyMax = 64;
constexpr std::size_t kKeptPieces = 8;
constexpr std::size_t kTurn = 512;

enum class Change : std::uint8_t { none, added, modified, left, deleted };

// The meaning of an event for a watcher that sees only what the selection matches.
Change change_of(const Selection& selection, const Event& event) {
  const bool before = event.before != nullptr && selection.matches(*event.before);
  if (event.op == Write::Op::remove) {
    return before ? Change::deleted : Change::none;
  }
  const bool after = selection.matches(*event.object);
  if (after) {
    return before ? Change::modified : Change::added;
  }
  return before ? Change::left : Change::none;
}

// The waiting point of a watch: woken by wake(), or by the stop of the task that waits.
class Wake {
 public:
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    const TaskContext& context = self.promise().context();
    waiter_.emplace();
    waiting_ = !context.stop.stop_requested();
    refused_ = !waiting_;
    if (waiting_) {
      waiter_->suspend(self, context, [this] { waiting_ = false; });
    }
    return waiting_;
  }
  Result<void> await_resume() {
    return refused_ || waiter_->stopped() ? Result<void>(fail(cancelled())) : Result<void>();
  }
  void wake() {
    if (std::exchange(waiting_, false)) {
      waiter_->wake();
    }
  }

 private:
  bool waiting_ = false;
  bool refused_ = false;
  std::optional<codeflare::internal::Waiter> waiter_;
};

struct WatchStart {
  Output output;
  Selection selection;
  std::unique_ptr<ListenedCursor> cursor;
  std::vector<ObjectPtr> initial{};
  bool initial_end = false;  // a bookmark marks the end of the initial events
  bool bookmarks = false;
  Instant deadline{};
};

// The events of one watch as a stream. Between reads it is a cursor into the store's history. An
// event costs each of its watchers as little as possible: timer and place among those who listen
// stay from one wait to the next, and a wait allocates nothing.
class WatchBody final : public net::BodyStream, private ChangeListener {
 public:
  WatchBody(Server& server, WatchStart start)
      : server_(server),
        start_(std::move(start)),
        end_revision_(start_.cursor->position()),
        closing_(server_.stopping.token(), [this] { wake(); }),
        resource_gone_(start_.output.resource->gone, [this] { wake(); }) {
    schedule_bookmark();
    start_.cursor->listen(*this);
    server_.metrics.watches.add();
  }
  ~WatchBody() override {
    if (timer_) {
      server_.env().loop.cancel_timer(*timer_);
    }
    server_.metrics.watches.subtract();
  }

  std::optional<Bytes> ready() override {
    while (true) {
      refill();
      if (std::optional<Bytes> piece = pop()) {
        return piece;
      }
      if (more_) {
        tell_listener();
        return std::nullopt;
      }
      if (may_wait()) {
        return std::nullopt;
      }
    }
  }

  bool tell(net::BodyListener* listener) override {
    listener_ = listener;
    return true;
  }

  Task<Result<Bytes>> read() override {
    while (true) {
      if (std::optional<Bytes> piece = ready()) {
        co_return *std::move(piece);
      }
      if (more_) {
        co_await yield();
        continue;
      }
      Result<void> woken = co_await wake_;
      // At the end of what is served there is a clean end to tell, if the reader can still take it.
      if (!woken && !is_closing()) {
        co_return fail(std::move(woken).error());
      }
    }
  }

 private:
  Instant now() const { return server_.parts.env.clock.now(); }

  // With nothing at hand: whether to wait for more. Else there is something to tell by now, the end
  // at least.
  bool may_wait() {
    const ListenedCursor::State state = start_.cursor->state();
    if (state == ListenedCursor::State::expired) {
      add_error(expired_error("The resourceVersion for the provided watch is too old."));
    } else if (state == ListenedCursor::State::closed || is_closing()) {
      ended_ = true;  // a clean end: the client comes back, or hears that nothing is served here
    }
    if (ended_) {
      return false;
    }
    if (std::exchange(due_, false)) {
      on_time();
      return false;
    }
    if (!timer_) {
      timer_ = server_.env().loop.start_timer(next_wake(), [this] {
        timer_.reset();
        due_ = true;
        wake();
      });
    }
    return true;
  }

  // The server shuts down, or the definition of what is watched has gone.
  bool is_closing() const {
    return server_.stopping.stop_requested() || start_.output.resource->gone.stop_requested();
  }

  void on_change() override { wake(); }

  // Wakes the reader, a coroutine or a listener.
  void wake() {
    wake_.wake();
    tell_listener();
  }

  void tell_listener() {
    if (listener_ != nullptr) {
      listener_->on_ready();
    }
  }

  // The next piece; an empty one at the end, nothing when there is none yet.
  std::optional<Bytes> pop() {
    while (taken_ < pieces_.size()) {
      Bytes piece = std::move(pieces_[taken_++]);
      if (!piece.empty()) {
        return piece;
      }
    }
    return ended_ ? std::optional(Bytes()) : std::nullopt;
  }

  void refill() {
    if (taken_ < pieces_.size()) {
      return;
    }
    pieces_.clear();
    taken_ = 0;
    fill();
    // Most watches are quiet most of the time: little room is kept for the next event.
    if (pieces_.empty() && pieces_.capacity() > kKeptPieces) {
      pieces_ = std::vector<Bytes>();
    }
  }

  // Encodes what is there without waiting.
  void fill() {
    more_ = false;
    std::size_t steps = 0;
    while (!ended_ && pieces_.size() < kReadyMax) {
      // Much may be looked at and little selected: others get a turn.
      if (++steps > kTurn) {
        more_ = true;
        return;
      }
      if (initial_ < start_.initial.size()) {
        const ObjectPtr object = std::exchange(start_.initial[initial_++], nullptr);
        if (start_.selection.matches(*object)) {
          add_object("ADDED", object);
        }
        continue;
      }
      if (initial_ > 0) {
        start_.initial = std::vector<ObjectPtr>();
        initial_ = 0;
      }
      if (start_.initial_end) {
        start_.initial_end = false;
        add_bookmark(end_revision_, true);
        continue;
      }
      const Event* event = start_.cursor->ready();
      if (event == nullptr) {
        return;
      }
      add_event(*event);
    }
  }

  Instant next_wake() const {
    return start_.bookmarks ? std::min(start_.deadline, next_bookmark_) : start_.deadline;
  }

  void on_time() {
    const Instant time = now();
    if (start_.bookmarks && time >= next_bookmark_ && time < start_.deadline) {
      add_bookmark(start_.cursor->position(), false);
      schedule_bookmark();
    }
    if (time >= start_.deadline) {
      ended_ = true;
    }
  }

  // Every minute, and once more shortly before the end.
  void schedule_bookmark() {
    const Instant last = start_.deadline - kBookmarkBeforeEnd;
    next_bookmark_ = after(now(), kBookmarkEvery);
    if (next_bookmark_ > last && now() < last) {
      next_bookmark_ = last;
    }
  }

  void add_event(const Event& event) {
    switch (change_of(start_.selection, event)) {
      case Change::none:
        return;
      case Change::added:
        return add_object("ADDED", event.object);
      case Change::modified:
        return add_object("MODIFIED", event.object);
      case Change::deleted:
        return add_object("DELETED", event.object);
      case Change::left:
        return add_left(event);
    }
  }

  static std::string_view begin_of(std::string_view type) {
    return type == "ADDED"      ? R"({"type":"ADDED","object":)"
           : type == "MODIFIED" ? R"({"type":"MODIFIED","object":)"
                                : R"({"type":"DELETED","object":)";
  }

  void add_object(std::string_view type, const ObjectPtr& object) {
    if (start_.output.form.view == View::object && start_.output.shows(object->api_version()) &&
        object->json().size() <= EventText::kBytesMax) {
      pieces_.push_back(server_.event_text.of(begin_of(type), object));
      return;
    }
    const std::size_t mark = begin(type);
    end(mark, start_.output.form.view == View::table
                  ? append_table(object, pieces_)
                  : append_object(start_.output, object, server_.encodings, pieces_));
  }

  // The object as it was, under the version that took it out of the selection.
  void add_left(const Event& event) {
    const std::size_t mark = begin("DELETED");
    if (start_.output.form.view == View::object &&
        start_.output.shows(event.before->api_version())) {
      end(mark, append_with_revision(event.before->text(), event.revision, pieces_));
      return;
    }
    std::vector<Bytes> made;
    Result<void> encoded = append_with_revision(event.before->text(), event.revision, made);
    if (encoded) {
      const Bytes text = Bytes::from(join(made));
      encoded = start_.output.form.view == View::table
                    ? append_row(text, event.revision, pieces_)
                    : append_object(start_.output, text, pieces_);
    }
    end(mark, encoded);
  }

  std::size_t begin(std::string_view type) {
    pieces_.push_back(Bytes::from_static(begin_of(type)));
    return pieces_.size() - 1;
  }

  // An event that could not be made leaves nothing but the error.
  void end(std::size_t mark, const Result<void>& encoded) {
    if (!encoded) {
      pieces_.resize(mark);
      add_error(encoded.error());
      return;
    }
    pieces_.push_back(Bytes::from_static("}\n"));
  }

  // Shared between watchers once the columns have been said.
  Result<void> append_table(const ObjectPtr& object, std::vector<Bytes>& out) {
    if (!columns_sent_) {
      return append_row(object->text(), object->revision(), out);
    }
    const Form& form = start_.output.form;
    const std::string key = "table/" + start_.output.resource->api_version(*start_.output.version) +
                            "/" + form.meta_version + "/" +
                            std::to_string(static_cast<int>(form.include));
    // Ages are part of the cells, so only what is made in the same second is shared.
    const std::string timed = key + "/" + to_rfc3339(server_.parts.env.clock.wall());
    if (const Bytes* known = server_.encodings.find(object, timed)) {
      out.push_back(*known);
      return {};
    }
    TRY(append_row(object->text(), object->revision(), out));
    server_.encodings.add(object, timed, out.back());
    return {};
  }

  Result<void> append_row(const Bytes& text, Revision revision, std::vector<Bytes>& out) {
    std::string table = table_head(
        start_.output, {.resource_version = std::to_string(revision), .columns = !columns_sent_});
    TRY_ASSIGN(std::string row, table_row(start_.output, text, server_.parts.env.clock.wall()));
    columns_sent_ = true;
    out.push_back(Bytes::from(table.append(row).append("]}")));
    return {};
  }

  void add_bookmark(Revision revision, bool initial_end) {
    std::string out = R"({"type":"BOOKMARK","object":{)";
    const Output& output = start_.output;
    const bool meta = output.form.view != View::object;
    out += "\"kind\":";
    json::append_quoted(out, output.form.view == View::table     ? "Table"
                             : output.form.view == View::partial ? "PartialObjectMetadata"
                                                                 : output.resource->kind);
    out += ",\"apiVersion\":";
    json::append_quoted(out, meta ? "meta.k8s.io/" + output.form.meta_version
                                  : output.resource->api_version(*output.version));
    const std::string metadata =
        "\"metadata\":{\"resourceVersion\":\"" + std::to_string(revision) + "\"" +
        (initial_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") + "}";
    if (output.form.view == View::table) {
      out += ",\"metadata\":{\"resourceVersion\":\"" + std::to_string(revision) +
             "\"},\"columnDefinitions\":[],\"rows\":[{\"cells\":[],\"object\":{\"kind\":"
             "\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/" +
             output.form.meta_version + "\"," + metadata + "}}]";
    } else {
      out += "," + metadata;
    }
    out += "}}\n";
    pieces_.push_back(Bytes::from(std::move(out)));
  }

  void add_error(const Error& error) {
    pieces_.push_back(
        Bytes::from(R"({"type":"ERROR","object":)" + status_text(model::to_status(error)) + "}\n"));
    ended_ = true;
  }

  // First what each event needs.
  net::BodyListener* listener_ = nullptr;
  bool columns_sent_ = false;
  bool ended_ = false;
  bool more_ = false;  // fill() stopped although there may be more
  bool due_ = false;   // the timer has fired
  Server& server_;
  std::vector<Bytes> pieces_;
  std::size_t taken_ = 0;  // of the pieces
  std::size_t initial_ = 0;
  Wake wake_;
  WatchStart start_;
  Revision end_revision_;
  Instant next_bookmark_;
  std::optional<TimerId> timer_;
  StopCallback closing_;
  StopCallback resource_gone_;
};

Duration timeout_of(Server& server, const ListOptions& options) {
  if (options.timeout_seconds && *options.timeout_seconds > 0) {
    // Beyond a day is as good as a day.
    return std::chrono::seconds(std::min<std::int64_t>(*options.timeout_seconds, 86'400));
  }
  const auto spread = static_cast<std::uint64_t>(kTimeoutSecondsMin);
  return std::chrono::seconds(kTimeoutSecondsMin +
                              static_cast<std::int64_t>(server.env().random.below(spread)));
}

Error too_old(Revision asked, Revision current) {
  return expired_error("too old resource version: " + std::to_string(asked) + " (" +
                       std::to_string(current) + ")");
}

}  // namespace

Task<Result<net::Response>> handle_watch(Call& call) {
  Store& store = call.server.store();
  CO_TRY_ASSIGN(ListOptions options, ListOptions::parse(call.info, true));
  CO_TRY_ASSIGN(Selection selection, Selection::parse(call.info, *call.resource, *call.version));
  CO_TRY(co_await wait_for_revision(call.server, options.revision));
  WatchStart start{.output = call.output(), .selection = std::move(selection), .cursor = {}};
  start.bookmarks = options.bookmarks;
  // Unset and "0" mean: first what is there, then what changes.
  const bool initial = options.send_initial_events.value_or(options.revision == 0);
  Revision from = options.revision;
  if (initial) {
    Store::Range range;
    if (!start.selection.ns().empty()) {
      range.ns = start.selection.ns();
    }
    CO_TRY_ASSIGN(from, store.visit(call.resource->collection, range, [&](const ObjectPtr& object) {
      start.initial.push_back(object);
      return true;
    }));
    start.initial_end = options.send_initial_events.value_or(false) && options.bookmarks;
  } else if (from == 0) {
    from = store.revision();
  }
  Result<std::unique_ptr<WatchCursor>> cursor = store.watch(call.resource->collection, from);
  if (!cursor && cursor.error().code == ErrorCode::expired) {
    co_return fail(too_old(from, store.revision()));
  }
  if (!cursor) {
    co_return fail(std::move(cursor).error());
  }
  start.cursor = listened(*std::move(cursor));
  start.deadline = after(call.server.env().clock.now(), timeout_of(call.server, options));
  net::Response response;
  response.headers.set("Content-Type", std::string(kJson));
  response.body = std::make_unique<WatchBody>(call.server, std::move(start));
  co_return response;
}

}  // namespace codeflare::apiserver::internal
