#include "apiserver/store/internal/store_impl.h"
#include "base/async/sleep.h"
#include "base/check.h"
#include "base/env/backoff.h"

#include <algorithm>
#include <set>
#include <utility>

namespace codeflare::apiserver {

namespace {

constexpr std::chrono::seconds kRetryAfter(1);
// How often a disk that was full is asked for room when nobody writes.
constexpr std::chrono::seconds kProbeEvery(5);

Error refusal(std::string message) {
  Error error = unavailable(std::move(message));
  error.retry_after = kRetryAfter;
  return error;
}

std::string describe(const Collection& collection, const Write& write) {
  return collection.name + " \"" + (write.ns.empty() ? "" : write.ns + "/") + write.name + "\"";
}

}  // namespace

std::optional<Error> StoreImpl::refuse_now(std::size_t writes) const {
  if (closing_) {
    return refusal("the store is closing");
  }
  if (rebuilding_) {
    return degraded_;
  }
  // However large, one transaction may always wait.
  if (queued_writes_ > 0 && queued_writes_ + writes > options_.queued_writes_max) {
    Error error = resource_exhausted(std::to_string(queued_writes_) +
                                     " writes are waiting for the disk already");
    error.retry_after = kRetryAfter;
    return error;
  }
  return std::nullopt;
}

// Against the newest state, committed or not. A loser waits only while what it can read does not
// show yet that it lost.
std::expected<void, StoreImpl::Refusal> StoreImpl::compare(const Write& write,
                                                           ObjectPtr& newest) const {
  const Collection& collection = at(write.collection);
  KeyView key{write.ns, write.name};
  ObjectPtr committed = collection.find(key);
  const Pending::State* pending = pending_.find(write.collection, key);
  newest = committed;
  if (pending != nullptr) {
    newest = pending->exists ? pending->object : nullptr;
  }
  Revision pending_revision = pending != nullptr ? pending->object->revision() : 0;
  if (write.op == Write::Op::create) {
    if (newest) {
      return std::unexpected(
          Refusal{already_exists(describe(collection, write) + " already exists"),
                  committed ? 0 : pending_revision});
    }
    return {};
  }
  bool looks_current = committed && committed->revision() == write.expected;
  if (!newest) {
    return std::unexpected(Refusal{not_found(describe(collection, write) + " not found"),
                                   looks_current ? pending_revision : 0});
  }
  if (newest->revision() != write.expected) {
    return std::unexpected(Refusal{
        conflict(describe(collection, write) + " is at revision " +
                 std::to_string(newest->revision()) + ", not at " + std::to_string(write.expected)),
        looks_current ? pending_revision : 0});
  }
  return {};
}

Result<StoreImpl::Change> StoreImpl::make_change(const Write& write, const ObjectPtr& newest,
                                                 Revision revision) {
  Collection& collection = at(write.collection);
  bool keeps_text = write.op == Write::Op::remove && write.text.empty();
  auto object = make_object({.collection = write.collection,
                             .text = keeps_text ? newest->json() : std::string_view(write.text),
                             .revision = revision,
                             .created = newest ? newest->created() : revision});
  if (!object) {
    return fail(std::move(object).error().with_context(describe(collection, write)));
  }
  if (key_of(**object) != KeyView{write.ns, write.name}) {
    return fail(invalid_argument(describe(collection, write) + ": the text is of \"" +
                                 std::string((*object)->ns()) + "/" +
                                 std::string((*object)->name()) + "\""));
  }
  return Change{write.op, &collection, *std::move(object)};
}

// Either all of it is queued, or nothing has changed.
std::expected<void, StoreImpl::Refusal> StoreImpl::sequence(const std::vector<Write>& writes,
                                                            Transaction& transaction) {
  std::vector<ObjectPtr> newest(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    auto fits = compare(writes[i], newest[i]);
    if (!fits) {
      return fits;
    }
  }
  std::vector<Change> changes;
  changes.reserve(writes.size());
  std::set<std::pair<CollectionId, KeyView>> keys;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    Result<Change> change = make_change(writes[i], newest[i], sequenced_ + 1 + i);
    if (!change) {
      return std::unexpected(Refusal{std::move(change).error(), 0});
    }
    if (!keys.insert({writes[i].collection, {writes[i].ns, writes[i].name}}).second) {
      return std::unexpected(Refusal{
          invalid_argument(describe(*change->collection, writes[i]) + " twice in a transaction"),
          0});
    }
    changes.push_back(*std::move(change));
  }
  for (const Change& change : changes) {
    pending_.put({change.object, change.op != Write::Op::remove});
  }
  sequenced_ += changes.size();
  queued_writes_ += changes.size();
  transaction.changes = std::move(changes);
  queue_.push_back(&transaction);
  return {};
}

Task<Result<std::vector<ObjectPtr>>> StoreImpl::commit(std::vector<Write> writes) {
  std::vector<ObjectPtr> objects;
  if (writes.empty()) {
    co_return std::move(objects);
  }
  Transaction transaction;
  while (true) {
    if (std::optional<Error> refused = refuse_now(writes.size())) {
      co_return fail(*std::move(refused));
    }
    auto sequenced = sequence(writes, transaction);
    if (sequenced) {
      break;
    }
    if (sequenced.error().waits_for == 0) {
      co_return fail(std::move(sequenced).error().error);
    }
    while (resolved_ < sequenced.error().waits_for) {
      co_await resolution_.wait_uncancellable();
    }
  }
  writes.clear();
  if (!std::exchange(committing_, true)) {
    // It begins on a later turn, so that whoever writes in this one shares the first batch.
    tasks_.spawn(commit_queue());
  }
  while (!transaction.ended) {
    co_await transaction.end.wait_uncancellable();
  }
  if (transaction.error) {
    co_return fail(*std::move(transaction.error));
  }
  for (Change& change : transaction.changes) {
    objects.push_back(std::move(change.object));
  }
  co_return std::move(objects);
}

Task<void> StoreImpl::commit_queue() {
  while (!queue_.empty()) {
    std::vector<Transaction*> batch = std::exchange(queue_, {});
    metrics_.batch_writes.observe(static_cast<double>(std::exchange(queued_writes_, 0)));
    Revision last = batch.back()->changes.back().object->revision();
    Result<void> durable = co_await append(batch);
    if (!durable) {
      fail_all(batch, durable.error());
      Error error = std::move(durable).error();
      co_await take_failure(std::move(error));
      continue;
    }
    degraded_.reset();
    for (Transaction* transaction : batch) {
      publish(*transaction);
    }
    resolved_ = last;
    history_.trim(env_.loop.now());
    expire_later();
    show_gauges();
    for (Transaction* transaction : batch) {
      end(*transaction);
    }
    resolution_.notify_all();
    if (log_->is_fold_due()) {
      co_await fold();
    }
  }
  committing_ = false;
}

Task<Result<void>> StoreImpl::append(const std::vector<Transaction*>& batch) {
  std::vector<LogRecord> records;
  for (const Transaction* transaction : batch) {
    for (const Change& change : transaction->changes) {
      bool removes = change.op == Write::Op::remove;
      records.push_back({.op = removes ? LogRecord::Op::remove : LogRecord::Op::put,
                         .collection = change.collection->name,
                         .created = change.object->created(),
                         .revision = change.object->revision(),
                         .text = removes ? Bytes() : change.object->text()});
    }
  }
  Revision last = records.back().revision;
  Instant start = env_.loop.now();
  Result<void> result = co_await run_blocking(env_, [&] { return log_->append(records, last); });
  metrics_.commit_seconds.observe(std::chrono::duration<double>(env_.loop.now() - start).count());
  co_return result;
}

void StoreImpl::publish(Transaction& transaction) {
  std::vector<const Event*> events;
  for (const Change& change : transaction.changes) {
    Collection& collection = *change.collection;
    bool removes = change.op == Write::Op::remove;
    ObjectPtr before =
        removes ? collection.erase(key_of(*change.object)) : collection.put(change.object);
    CHECK((before == nullptr) == (change.op == Write::Op::create), "a write was sequenced wrongly");
    uids_.replace(before.get(), removes ? nullptr : change.object.get());
    pending_.resolve(change.object);
    collection.size_gauge->set(static_cast<double>(collection.objects.size()));
    revision_ = change.object->revision();
    events.push_back(&history_.add(
        collection, {revision_, change.op, change.object, std::move(before)}, env_.loop.now()));
    collection.tell();
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (const Hook& hook : hooks_) {
      hook(transaction.changes[i].collection->id, *events[i]);
    }
  }
}

void StoreImpl::end(Transaction& transaction) {
  transaction.ended = true;
  transaction.end.notify_all();
}

void StoreImpl::fail_all(const std::vector<Transaction*>& batch, const Error& error) {
  metrics_.failed_commits.add();
  degraded_ = refusal("the storage log failed: " + error.message);
  std::vector<Transaction*> behind = std::exchange(queue_, {});
  queued_writes_ = 0;
  pending_.clear();
  resolved_ = sequenced_;
  for (const auto* transactions : {&batch, &std::as_const(behind)}) {
    for (Transaction* transaction : *transactions) {
      transaction->error = degraded_;
      end(*transaction);
    }
  }
  resolution_.notify_all();
}

Task<void> StoreImpl::take_failure(Error error) {
  if (error.code == ErrorCode::resource_exhausted) {
    logger_.warn("storage is full: writes fail until there is room", {{"error", error}});
    if (!std::exchange(probing_, true)) {
      tasks_.spawn(probe());
    }
    co_return;
  }
  logger_.error("storage failed: read-only until it is rebuilt", {{"error", error}});
  co_await rebuild();
}

// Clients that look at degraded() before they send writes would otherwise wait indefinitely. Takes
// the committer's place for each attempt: the log has one user at a time.
Task<void> StoreImpl::probe() {
  while (degraded_ && !rebuilding_) {
    if (!co_await sleep_for(kProbeEvery)) {
      break;
    }
    if (!degraded_ || rebuilding_ || std::exchange(committing_, true)) {
      continue;
    }
    const Revision last = sequenced_;
    Result<void> room = co_await run_blocking(env_, [&] { return log_->append({}, last); });
    if (room) {
      logger_.info("storage has room again");
      degraded_.reset();
    } else if (room.error().code != ErrorCode::resource_exhausted) {
      fail_all({}, room.error());
      co_await take_failure(std::move(room).error());
    }
    co_await commit_queue();
  }
  probing_ = false;
}

Task<void> StoreImpl::rebuild() {
  rebuilding_ = true;
  Backoff backoff({.initial = std::chrono::milliseconds(100), .max = options_.rebuild_backoff_max},
                  env_.random);
  while (true) {
    std::vector<LogRecord> records;
    for (const auto& collection : collections_) {
      for (const ObjectPtr& object : collection->objects) {
        records.push_back({.collection = collection->name,
                           .created = object->created(),
                           .revision = object->revision(),
                           .text = object->text()});
      }
    }
    // Up to what was given out: a revision that failed is not used again after a restart either.
    Result<void> rebuilt =
        co_await run_blocking(env_, [&] { return log_->rebuild(records, sequenced_); });
    if (rebuilt) {
      break;
    }
    logger_.warn("storage can not be rebuilt yet", {{"error", rebuilt.error()}});
    degraded_ = refusal("the storage log can not be rebuilt: " + rebuilt.error().message);
    if (!co_await sleep_for(backoff.next(env_.clock.now()))) {
      co_return;  // closing; writes stay rejected
    }
  }
  metrics_.rebuilds.add();
  rebuilding_ = false;
  degraded_.reset();
  show_gauges();
  logger_.info("storage is rebuilt", {{"revision", sequenced_}});
}

Task<void> StoreImpl::fold() {
  Result<void> folded = co_await run_blocking(env_, [this] { return log_->fold(); });
  show_gauges();
  if (folded || folded.error().code == ErrorCode::resource_exhausted) {
    co_return;
  }
  fail_all({}, folded.error());
  Error error = std::move(folded).error();
  co_await take_failure(std::move(error));
}

}  // namespace codeflare::apiserver
