#include "apiserver/store/internal/store_impl.h"

#include "apiserver/store/internal/stored_objects.h"
#include "apiserver/store/internal/watch_cursor.h"
#include "base/async/sleep.h"
#include "base/check.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver {

namespace {

struct Loaded {
  StoredObjects stored;
  Revision revision = 0;
};

// Off the loop.
Result<Loaded> read_log(Log& log) {
  Loaded loaded;
  TRY_ASSIGN(loaded.revision,
             log.load([&](const LogRecord& record) { return loaded.stored.add(record); }));
  TRY(loaded.stored.finish(loaded.revision));
  return loaded;
}

}  // namespace

StoreImpl::StoreImpl(Env env, std::unique_ptr<Log> log, Options options, Logger logger,
                     MetricsRegistry& metrics)
    : env_(env),
      log_(std::move(log)),
      options_(options),
      logger_(std::move(logger)),
      metrics_(metrics),
      history_({.bytes_max = options.history_bytes_max, .age_max = options.history_age_max}),
      tasks_(env.loop) {}

StoreImpl::~StoreImpl() {
  if (expiry_) {
    env_.loop.cancel_timer(*expiry_);
  }
}

Task<Result<void>> StoreImpl::load() {
  CO_TRY_ASSIGN(Loaded loaded, co_await run_blocking(env_, [this] { return read_log(*log_); }));
  for (StoredObjects::Collection& stored : loaded.stored.collections()) {
    Collection& target = at(collection(stored.name));
    target.objects = std::move(stored.objects);
    for (const ObjectPtr& object : target.objects) {
      uids_.replace(nullptr, object.get());
    }
    target.size_gauge->set(static_cast<double>(target.objects.size()));
  }
  revision_ = sequenced_ = resolved_ = history_start_ = std::max<Revision>(loaded.revision, 1);
  show_gauges();
  co_return Result<void>();
}

CollectionId StoreImpl::collection(std::string_view resource) {
  auto found = ids_.find(resource);
  if (found != ids_.end()) {
    return found->second;
  }
  auto fresh = std::make_unique<Collection>();
  fresh->id = static_cast<CollectionId>(collections_.size() + 1);
  fresh->name = resource;
  fresh->size_gauge = &metrics_.objects.with({resource});
  fresh->size_gauge->set(0);
  ids_.emplace(resource, fresh->id);
  collections_.push_back(std::move(fresh));
  return collections_.back()->id;
}

std::string_view StoreImpl::name_of(CollectionId collection) const {
  return at(collection).name;
}

std::vector<CollectionId> StoreImpl::collections() const {
  std::vector<CollectionId> ids;
  for (const auto& collection : collections_) {
    ids.push_back(collection->id);
  }
  return ids;
}

const Collection& StoreImpl::at(CollectionId collection) const {
  CHECK(collection >= 1 && collection <= collections_.size(), "no such collection");
  return *collections_[collection - 1];
}

Collection& StoreImpl::at(CollectionId collection) {
  return const_cast<Collection&>(std::as_const(*this).at(collection));
}

ObjectPtr StoreImpl::get(CollectionId collection, std::string_view ns,
                         std::string_view name) const {
  return at(collection).find({ns, name});
}

std::size_t StoreImpl::size(CollectionId collection) const {
  return at(collection).objects.size();
}

Result<void> StoreImpl::check_history(const Collection& collection, Revision position) const {
  Revision start = std::max(history_start_, collection.history_start);
  if (position < start) {
    return fail(expired(collection.name + ": revision " + std::to_string(position) +
                        " is gone, the history starts at " + std::to_string(start)));
  }
  return {};
}

Result<Revision> StoreImpl::visit(CollectionId collection, const Range& range,
                                  const std::function<bool(const ObjectPtr&)>& visitor) const {
  const Collection& from = at(collection);
  if (range.at == 0 || range.at == revision_) {
    from.visit_now(range, visitor);
    return revision_;
  }
  if (range.at > revision_) {
    return fail(failed_precondition("revision " + std::to_string(range.at) +
                                    " is still to come, the store is at " +
                                    std::to_string(revision_)));
  }
  TRY(check_history(from, range.at));
  from.visit_then(range, visitor);
  return range.at;
}

Result<std::unique_ptr<WatchCursor>> StoreImpl::watch(CollectionId collection, Revision from) {
  if (closing_) {
    return fail(unavailable("the store is closed"));
  }
  Collection& target = at(collection);
  TRY(check_history(target, from));
  return std::make_unique<Cursor>(*this, target, from);
}

Task<Result<void>> StoreImpl::wait_committed(Revision revision) {
  while (revision_ < revision) {
    if (closed_) {
      co_return fail(unavailable("the store is closed"));
    }
    CO_TRY(co_await resolution_.wait());
  }
  co_return Result<void>();
}

Task<Result<void>> StoreImpl::wait_for(Revision revision, Duration limit) {
  if (revision_ >= revision) {
    co_return Result<void>();
  }
  Task<Result<void>> wait = wait_committed(revision);
  co_return co_await with_timeout(limit, "revision " + std::to_string(revision), std::move(wait));
}

void StoreImpl::forget(Revision through) {
  through = std::min(through, revision_);
  history_.forget(through);
  history_start_ = std::max(history_start_, through);
  show_gauges();
}

void StoreImpl::expire_later() {
  std::optional<Instant> due = history_.next_expiry();
  if (expiry_ || closing_ || !due) {
    return;
  }
  // At most some sixteen times per age, however many events there are.
  Instant when = std::max(*due, after(env_.loop.now(), options_.history_age_max / 16));
  expiry_ = env_.loop.start_timer(when, [this] {
    expiry_.reset();
    history_.trim(env_.loop.now());
    show_gauges();
    expire_later();
  });
}

void StoreImpl::show_gauges() {
  metrics_.revision.set(static_cast<double>(revision_));
  metrics_.history_bytes.set(static_cast<double>(history_.bytes()));
  metrics_.wal_bytes.set(closed_ ? 0 : static_cast<double>(log_->backlog_bytes()));
}

Task<void> StoreImpl::settle() {
  Revision last = sequenced_;
  while (resolved_ < last) {
    co_await resolution_.wait_uncancellable();
  }
}

Task<void> StoreImpl::close() {
  if (std::exchange(closing_, true)) {
    while (!log_closed_) {
      co_await resolution_.wait_uncancellable();
    }
    co_return;
  }
  co_await settle();
  // Ends a rebuild that waits for its next attempt.
  co_await tasks_.close();
  closed_ = true;
  if (expiry_) {
    env_.loop.cancel_timer(*expiry_);
    expiry_.reset();
  }
  for (const auto& collection : collections_) {
    collection->tell();
  }
  resolution_.notify_all();
  Result<void> left_tidy = co_await run_blocking(env_, [this] {
    Result<void> result = log_->close();
    log_.reset();
    return result;
  });
  if (!left_tidy) {
    logger_.warn("the storage log was not closed in order", {{"error", left_tidy.error()}});
  }
  log_closed_ = true;
  resolution_.notify_all();
}

}  // namespace codeflare::apiserver
