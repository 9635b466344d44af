#pragma once

#include "apiserver/store/log.h"
#include "apiserver/store/object.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// One change to one object, decided by somebody who read `expected`.
struct Write {
  enum class Op : std::uint8_t { create, update, remove };
  Op op = Op::create;
  CollectionId collection = 0;
  std::string ns{};  // empty: cluster-scoped
  std::string name{};
  // create, update: the new state in the storage version; whatever stands in
  // metadata.resourceVersion is replaced by the write's revision. remove: the last state to show to
  // watchers, or empty for the state that is there.
  std::string text{};
  // update, remove: the revision that was read; anything else there by now is a conflict. The text
  // must name the same namespace and name as the write.
  Revision expected = 0;
};

// A change of one object. `object` is the new state; for a removal the last state under the
// removal's own revision. `before` is null for a creation.
struct Event {
  Revision revision = 0;
  Write::Op op = Write::Op::create;
  ObjectPtr object;
  ObjectPtr before;
};

// A position in the history of one collection. It must not outlive the store; waiting costs nothing
// while other collections change.
class WatchCursor {
 public:
  virtual ~WatchCursor() = default;
  // The next event, at once if there is one; it stays valid until the next call. Waits otherwise.
  // `expired` when the history behind the position is gone, `cancelled` when the store closes.
  virtual Task<Result<const Event*>> next() = 0;
  // As next() without waiting; null when there is nothing yet. `expired` shows in next().
  virtual const Event* ready() = 0;
  // Everything up to here has been returned (or did not concern this collection): the store's
  // revision once the cursor has caught up, what a bookmark says.
  virtual Revision position() const = 0;
};

// All objects in memory, one sequence of revisions, and a log that makes each write durable before
// anybody sees it. Runs on the loop; commits go to the log off the loop, and whatever is written
// meanwhile makes the next batch. Reads see committed state only.
//
// A write that the log could not take (full disk, failed sync) fails with `unavailable` and
// retry_after, together with everything that was sequenced behind it; its revision is never used
// again. On a full disk each write is tried, so that it heals by itself. After a failed sync
// nothing is written until the log has been rebuilt from memory, which the store does by itself.
//
// close() it before it is destroyed; nothing may wait in it then.
class Store {
 public:
  struct Options {
    // Superseded versions kept for watches and for lists at older revisions.
    std::size_t history_bytes_max = 64u << 20;
    Duration history_age_max = std::chrono::minutes(5);
    std::size_t queued_writes_max = 10'000;  // more fail with resource_exhausted
    Duration rebuild_backoff_max = std::chrono::seconds(10);
  };

  // Loads what the log holds; positions before the revision it starts with are expired. The
  // revision starts at 1 in an empty store.
  static Task<Result<std::unique_ptr<Store>>> open(Env env, std::unique_ptr<Log> log,
                                                   Options options, Logger logger,
                                                   MetricsRegistry& metrics);
  virtual ~Store() = default;

  // The same id for the same name as long as the store lives; made when it is new.
  virtual CollectionId collection(std::string_view resource) = 0;
  virtual std::string_view name_of(CollectionId collection) const = 0;
  // Every one there is, also those found in the log that nobody asked for yet.
  virtual std::vector<CollectionId> collections() const = 0;

  virtual Revision revision() const = 0;  // of the last committed write

  // Null when it is not there.
  virtual ObjectPtr get(CollectionId collection, std::string_view ns,
                        std::string_view name) const = 0;
  virtual ObjectPtr find_uid(std::string_view uid) const = 0;

  // Objects in order of (namespace, name).
  struct Range {
    std::optional<std::string> ns{};  // absent: all
    // Only what comes behind this key.
    std::optional<std::pair<std::string, std::string>> after{};
    // 0: now. An older state is worked out from the history: `expired` when that is gone. A
    // revision that is still to come is a failed_precondition: wait_for() it first.
    Revision at = 0;
  };
  // Ends early when the visitor returns false. Returns the revision whose state was seen.
  virtual Result<Revision> visit(CollectionId collection, const Range& range,
                                 const std::function<bool(const ObjectPtr&)>& visitor) const = 0;
  virtual std::size_t size(CollectionId collection) const = 0;
  // Waits until `revision` is committed: `deadline_exceeded` after `limit`.
  virtual Task<Result<void>> wait_for(Revision revision, Duration limit) = 0;

  // Events after `from`, which may be still to come; `expired` when the history does not reach back
  // so far.
  virtual Result<std::unique_ptr<WatchCursor>> watch(CollectionId collection, Revision from) = 0;

  // All or nothing; each write gets a revision of its own, in order. Returns when it is durable and
  // visible. One write per object. Fails with already_exists, not_found or conflict; when the
  // winner is not committed yet, only after it is, so that reading again shows it. It is sequenced
  // in the turn of the loop that awaits it, and a stop does not interrupt it: the effect is always
  // known.
  virtual Task<Result<std::vector<ObjectPtr>>> commit(std::vector<Write> writes) = 0;
  Task<Result<ObjectPtr>> commit(Write write);

  // Called for every event in order when it becomes visible (with the rest of its transaction),
  // before the writer hears of it. Must not write; it may start tasks that do. Lives as long as the
  // store.
  using Hook = std::function<void(CollectionId, const Event&)>;
  virtual void on_commit(Hook hook) = 0;

  // Forgets history up to the revision, as the limits do; older positions are expired in every
  // collection, whether it lost events or not.
  virtual void forget(Revision through) = 0;
  // Waits until everything that was sequenced before the call has been committed or has failed.
  virtual Task<void> settle() = 0;
  // The reason why writes failed last (full disk) or are rejected (until the log is rebuilt);
  // nothing as soon as one succeeds.
  virtual std::optional<Error> degraded() const = 0;
  // Waits for sequenced writes, rejects the rest, ends all watches, closes the log. Reads still
  // work afterwards.
  virtual Task<void> close() = 0;
};

}  // namespace codeflare::apiserver
