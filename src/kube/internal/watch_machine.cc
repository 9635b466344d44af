#include "kube/internal/watch_machine.h"

#include "base/async/sleep.h"
#include "base/log.h"
#include "kube/internal/list_request.h"
#include "kube/internal/watch_list_memory.h"
#include "model/status.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace codeflare::kube {

namespace {

using std::chrono::seconds;

// The server ends a watch after this; a random part keeps many watches from ending together.
constexpr seconds kWatchTimeout{290};
constexpr std::uint64_t kWatchTimeoutSpread = 30;
// A stream that the server has not ended this long after its time is dead.
constexpr Duration kGrace = seconds(5);
// A server that knows initial events is never quiet for so long before it has sent them all.
constexpr Duration kInitialSilence = seconds(10);
constexpr std::size_t kHeldMax = 10'000;
constexpr Duration kShortestWatch = seconds(1);
constexpr Duration kInternalErrorsMax = seconds(60);

bool is_beyond_history(const Error& error) {
  return error.code == ErrorCode::expired ||
         model::find_cause(error, "ResourceVersionTooLarge") != nullptr ||
         error.message.contains("Too large resource version");
}

// `cancelled` without having been asked to stop: the other side stopped.
bool is_transient(const Error& error) {
  return error.code == ErrorCode::cancelled || error.code == ErrorCode::unavailable ||
         error.code == ErrorCode::deadline_exceeded ||
         error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::internal;
}

// The version just before this one, when versions are numbers.
std::string before(std::string_view rv) {
  const std::uint64_t revision = to_revision(rv);
  return revision == 0 ? std::string() : std::to_string(revision - 1);
}

bool is_no_position(std::string_view rv) {
  return rv.empty() || rv == "0";
}

}  // namespace

Watcher::Machine::Machine(Client& client, ResourceType type, WatcherOptions options)
    : client_(client),
      type_(std::move(type)),
      options_(std::move(options)),
      backoff_({options_.backoff_initial, options_.backoff_max}, client.env().random) {}

Task<Result<WatcherEvent>> Watcher::Machine::next() {
  while (ready_.empty()) {
    Result<void> stepped = co_await step();
    if (stepped) {
      continue;
    }
    const TaskContext& context = co_await current_context();
    if (context.stop.stop_requested()) {
      stream_.reset();  // an interrupted read may have lost bytes; the position is kept
      co_return fail(cancelled());
    }
    last_error_ = stepped.error();
    if (recover(stepped.error())) {
      CO_TRY(co_await wait_after(std::move(stepped).error()));
    }
  }
  WatcherEvent event = std::move(ready_.front());
  ready_.pop_front();
  co_return event;
}

Task<Result<void>> Watcher::Machine::step() {
  switch (state_) {
    case State::empty:
      tried_stream_ = wants_stream();
      if (tried_stream_) {
        const std::string rv = relist_rv_ == "0" ? std::string() : relist_rv_;
        co_return co_await open_stream(rv, true);
      }
      co_return co_await list_page();
    case State::listing:
      co_return page_ ? co_await read_listed() : co_await list_page();
    case State::streaming:
      if (stream_ == nullptr) {  // a read was cancelled
        start_over(relist_rv_);
        co_return Result<void>();
      }
      co_return co_await read_initial_event();
    case State::watching:
      if (stream_ == nullptr) {
        co_return co_await open_stream(rv_, false);
      }
      co_return co_await read_event();
  }
  co_return fail(internal_error("the watcher is in no state"));
}

bool Watcher::Machine::wants_stream() const {
  return options_.watch_list && !avoid_stream_ &&
         !client_.watch_list_memory().refused(type_.group, client_.env().loop.now());
}

Task<Result<void>> Watcher::Machine::list_page() {
  const bool first = state_ == State::empty;
  ListOptions list{.ns = options_.ns,
                   .label_selector = options_.label_selector,
                   .field_selector = options_.field_selector,
                   .metadata_only = options_.metadata_only};
  if (first) {
    list.resource_version = relist_rv_;
  } else {
    list.continue_token = continue_token_;
  }
  // A limit together with a version would ask for exactly that version, which may be gone.
  if (paged_ && (!first || relist_rv_.empty() || relist_rv_ == "0")) {
    list.limit = options_.page_limit;
  }
  CO_TRY_ASSIGN(Client::RawRequest request, internal::list_request(type_, list));
  CO_TRY_ASSIGN(Client::RawResponse response, co_await client_.raw(std::move(request)));
  CO_TRY_ASSIGN(page_, internal::ListWalk::over(std::move(response.body)));
  if (first) {
    begin_init();
    list_rv_ = page_->head().resource_version;
    listed_ = 0;
    state_ = State::listing;
  }
  continue_token_ = page_->head().continue_token;
  co_return Result<void>();
}

// One object at a time, at the reader's pace: an old cache and the whole of its successor need not
// be in memory together.
Task<Result<void>> Watcher::Machine::read_listed() {
  CO_TRY_ASSIGN(ObjectRef object, page_->next());
  if (object != nullptr) {
    deliver_initial(std::move(object));
    if (++listed_ % internal::kItemsPerTurn == 0) {
      co_await yield();
    }
    co_return Result<void>();
  }
  page_.reset();
  if (continue_token_.empty()) {
    finish_init(list_rv_, list_rv_);
  }
  co_return Result<void>();
}

Task<Result<void>> Watcher::Machine::open_stream(std::string rv, bool initial_events) {
  const std::uint64_t spread = client_.env().random.below(kWatchTimeoutSpread + 1);
  WatchOptions watch{.ns = options_.ns,
                     .label_selector = options_.label_selector,
                     .field_selector = options_.field_selector,
                     .resource_version = rv,
                     .send_initial_events = initial_events,
                     .metadata_only = options_.metadata_only,
                     .timeout = kWatchTimeout - seconds(spread)};
  const seconds timeout = watch.timeout;
  CO_TRY_ASSIGN(stream_, co_await client_.watch(type_, std::move(watch)));
  stream_opened_ = client_.env().loop.now();
  stream_deadline_ = after(stream_opened_, timeout + kGrace);
  stream_events_ = 0;
  opened_at_ = to_revision(rv);
  event_revision_ = 0;
  if (initial_events) {
    begin_init();
    held_.clear();
    state_ = State::streaming;
  } else {
    synthetic_ = is_no_position(rv);
    works_again();
  }
  co_return Result<void>();
}

Task<Result<std::optional<WatchEvent>>> Watcher::Machine::next_event(Duration patience) {
  const Duration left = stream_deadline_ - client_.env().loop.now();
  patience = std::min(patience, std::max(left, Duration::zero()));
  CO_TRY_ASSIGN(
      std::optional<WatchEvent> event,
      co_await with_timeout(patience, "watch of " + type_.qualified_name(), stream_->next()));
  if (event) {
    ++stream_events_;
  }
  co_return event;
}

Task<Result<void>> Watcher::Machine::read_initial_event() {
  CO_TRY_ASSIGN(std::optional<WatchEvent> event, co_await next_event(kInitialSilence));
  if (!event) {
    co_return fail(unavailable("watch of " + type_.qualified_name() +
                               " ended before its initial events were complete"));
  }
  if (event->initial_events_end) {
    const std::string seen =
        held_.empty() ? event->resource_version : before(held_.front().resource_version);
    finish_init(event->resource_version, seen);
    for (WatchEvent& held : std::exchange(held_, {})) {
      deliver(std::move(held));
    }
    rv_ = event->resource_version;
    emit(WatcherEvent::Type::progress, nullptr, rv_);
  } else if (event->type == WatchEvent::Type::added && held_.empty()) {
    deliver_initial(std::move(event->object));
  } else if (event->type != WatchEvent::Type::bookmark) {
    // A change to what was sent already: it belongs behind the snapshot, and so does all after it.
    if (held_.size() >= kHeldMax) {
      co_return fail(
          deadline_exceeded("watch of " + type_.qualified_name() + ": initial events do not end"));
    }
    held_.push_back(*std::move(event));
  }
  co_return Result<void>();
}

Task<Result<void>> Watcher::Machine::read_event() {
  CO_TRY_ASSIGN(std::optional<WatchEvent> event, co_await next_event(Duration::max()));
  if (!event) {
    co_return stream_ended();
  }
  internal_errors_since_.reset();
  deliver(*std::move(event));
  co_return Result<void>();
}

Result<void> Watcher::Machine::stream_ended() {
  stream_.reset();
  const Duration lasted = client_.env().loop.now() - stream_opened_;
  if (lasted < kShortestWatch && stream_events_ == 0) {
    return fail(
        unavailable("watch of " + type_.qualified_name() + " ended at once and without an event"));
  }
  return {};
}

void Watcher::Machine::begin_init() {
  initial_revision_max_ = 0;
  emit(WatcherEvent::Type::init_begin, nullptr, {});
}

void Watcher::Machine::finish_init(std::string rv, std::string seen_up_to) {
  rv_ = std::move(rv);
  ordered_ = ordered_ && initial_revision_max_ <= to_revision(rv_);
  opened_at_ = 0;  // a stream of initial events goes on and has no past to repeat
  state_ = State::watching;
  relist_rv_ = rv_;
  paged_ = true;
  avoid_stream_ = false;
  stream_failures_ = 0;
  works_again();
  internal_errors_since_.reset();
  emit(WatcherEvent::Type::init_done, nullptr, std::move(seen_up_to));
}

void Watcher::Machine::deliver_initial(ObjectRef object) {
  const std::uint64_t revision = object->revision();
  ordered_ = ordered_ && revision > 0;
  initial_revision_max_ = std::max(initial_revision_max_, revision);
  emit(WatcherEvent::Type::init_object, std::move(object), {});
}

// A server may begin a resumed watch with events from before the position. They are known by their
// revision, and only while versions have proved comparable: a wrong guess would lose an event.
bool Watcher::Machine::is_replay(const WatchEvent& event) {
  const std::uint64_t revision = event.object->revision();
  if (revision == 0 || revision < event_revision_) {
    ordered_ = false;
  }
  event_revision_ = revision;
  return ordered_ && revision <= opened_at_;
}

// A bookmark without a version, or one from the past, would make the next watch repeat what is
// known already.
bool Watcher::Machine::moves_on(const std::string& version) const {
  return !version.empty() && !(ordered_ && to_revision(version) < to_revision(rv_));
}

void Watcher::Machine::deliver(WatchEvent event) {
  if (event.type == WatchEvent::Type::bookmark) {
    if (!moves_on(event.resource_version)) {
      return;
    }
    synthetic_ = false;
    rv_ = event.resource_version;
    emit(WatcherEvent::Type::progress, nullptr, std::move(event.resource_version));
    return;
  }
  if (is_replay(event)) {
    return;
  }
  // The objects that a watch without a version begins with come in any order: none of their
  // versions is a position to resume from.
  synthetic_ = synthetic_ && event.type == WatchEvent::Type::added;
  if (!synthetic_) {
    rv_ = event.resource_version;
  }
  const bool deleted = event.type == WatchEvent::Type::deleted;
  emit(deleted ? WatcherEvent::Type::deleted : WatcherEvent::Type::applied, std::move(event.object),
       std::move(event.resource_version));
}

void Watcher::Machine::emit(WatcherEvent::Type type, ObjectRef object, std::string rv) {
  ready_.push_back({type, std::move(object), std::move(rv)});
}

bool Watcher::Machine::recover(const Error& error) {
  stream_.reset();
  switch (state_) {
    case State::empty:
      return tried_stream_ ? recover_streaming(error) : recover_listing(error);
    case State::listing:
      return recover_listing(error);
    case State::streaming:
      return recover_streaming(error);
    case State::watching:
      recover_watching(error);
      return true;
  }
  return true;
}

bool Watcher::Machine::recover_listing(const Error& error) {
  if (is_beyond_history(error)) {
    // The asked version or the snapshot behind the pages is gone; ask for less at once.
    const bool pages_expired = paged_ && state_ == State::listing;
    const bool asks_for_less = pages_expired || !relist_rv_.empty();
    paged_ = paged_ && !pages_expired;
    start_over("");
    return !asks_for_less;
  }
  if (!is_transient(error)) {
    start_over(relist_rv_);
  }
  return true;
}

bool Watcher::Machine::recover_streaming(const Error& error) {
  const bool refused =
      error.code == ErrorCode::invalid_argument || error.code == ErrorCode::unsupported;
  // It took the request for a plain watch and waits for changes, while we wait for the end mark.
  const bool ignored = state_ == State::streaming && error.code == ErrorCode::deadline_exceeded;
  if (refused || ignored) {
    client_.watch_list_memory().refuse(type_.group, client_.env().loop.now());
    start_over(relist_rv_);
    return false;
  }
  ++stream_failures_;
  avoid_stream_ = stream_failures_ >= 2;
  start_over(is_beyond_history(error) ? std::string() : relist_rv_);
  return true;
}

void Watcher::Machine::recover_watching(const Error& error) {
  if (is_beyond_history(error)) {
    // The server also rejects "not older than the last version" when that version lies in the
    // future, as after a restore from a backup: only "" is sure.
    start_over(error.code == ErrorCode::expired ? rv_ : std::string());
    return;
  }
  if (error.code == ErrorCode::internal) {
    const Instant now = client_.env().loop.now();
    if (!internal_errors_since_) {
      internal_errors_since_ = now;
    }
    if (now - *internal_errors_since_ < kInternalErrorsMax) {
      return;
    }
  } else if (is_transient(error) && !is_no_position(rv_)) {
    return;  // resume where we were
  }
  start_over(rv_);
}

void Watcher::Machine::start_over(std::string rv) {
  state_ = State::empty;
  relist_rv_ = std::move(rv);
  continue_token_.clear();
  page_.reset();
  held_.clear();
  internal_errors_since_.reset();
}

void Watcher::Machine::works_again() {
  last_error_.reset();
  warned_.reset();
}

Task<Result<void>> Watcher::Machine::wait_after(Error error) {
  Duration wait = backoff_.next(client_.env().loop.now());
  if (error.retry_after) {
    wait = std::max<Duration>(wait, *error.retry_after);
  }
  if (options_.logger != nullptr) {
    // The end of a history is part of the protocol; the rest somebody may want to look into, once
    // as long as it is the same kind of fault.
    const bool news = error.code != ErrorCode::expired && error.code != warned_;
    const LogLevel level = news ? LogLevel::warn : LogLevel::debug;
    if (news) {
      warned_ = error.code;
    }
    options_.logger->log(level, "watch failed, will be tried again",
                         {{"resource", type_.qualified_name()},
                          {"namespace", options_.ns},
                          {"failures", backoff_.failures()},
                          {"wait", wait},
                          {"error", error}});
  }
  co_return co_await sleep_for(wait);
}

}  // namespace codeflare::kube
