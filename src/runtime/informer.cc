#include "runtime/informer.h"

#include "base/async/sleep.h"

#include <algorithm>
#include <utility>

namespace codeflare::runtime {

namespace {

// A first list that broke off may have shown a newer state than the one that the next begins with:
// the events that follow then tell of an end that the object has outlived.
bool outlives(const kube::Object& held, const kube::Object& gone) {
  return gone.revision() != 0 && held.revision() > gone.revision();
}

}  // namespace

Informer::Informer(Env env, kube::Client& client, ResourceType type, InformerOptions options)
    : env_(env),
      type_(type),
      options_(std::move(options)),
      watcher_(client, std::move(type), options_.watch) {}

void Informer::add_index(std::string name, Store::IndexFunction function) {
  store_.add_index(std::move(name), std::move(function));
}

void Informer::add_handler(Handler handler) {
  handlers_.push_back(std::move(handler));
}

Task<void> Informer::run() {
  for (;;) {
    Result<kube::WatcherEvent> event = co_await watcher_.next();
    if (!event) {
      co_return;  // only ever cancelled
    }
    handle(*std::move(event));
  }
}

void Informer::handle(kube::WatcherEvent event) {
  using Type = kube::WatcherEvent::Type;
  seen_revision_ = std::max(seen_revision_, kube::to_revision(event.resource_version));
  switch (event.type) {
    case Type::init_begin:
      store_.begin_replace();
      break;
    case Type::init_object:
      apply(std::move(event.object), !synced_);
      break;
    case Type::init_done:
      for (const ObjectRef& gone : store_.end_replace()) {
        removed(gone);
      }
      if (!std::exchange(synced_, true)) {
        sync_waiters_.notify_all();
      }
      break;
    case Type::applied:
      apply(std::move(event.object), false);
      break;
    case Type::deleted:
      if (const ObjectRef held = store_.get(event.object->key());
          held != nullptr && !outlives(*held, *event.object)) {
        store_.erase(event.object->ns(), event.object->name());
        removed(event.object);
      }
      break;
    case Type::progress:
      break;
  }
  change_waiters_.notify_all();
}

void Informer::apply(ObjectRef object, bool initial) {
  if (options_.transform) {
    object = options_.transform(std::move(object));
  }
  object = kube::Object::packed(std::move(object), sample_);
  Store::Change change = store_.apply(object);
  if (change.changed) {
    tell({std::move(change.old), std::move(object), initial});
  }
}

void Informer::removed(const ObjectRef& object) {
  tell({object, nullptr, false});
}

void Informer::tell(const ObjectChange& change) {
  for (const Handler& handler : handlers_) {
    handler(change);
  }
}

Task<Result<void>> Informer::wait_synced() {
  while (!synced_) {
    CO_TRY(co_await sync_waiters_.wait());
  }
  co_return Result<void>();
}

void Informer::note_written(const kube::Object& written) {
  Expected& expected = expected_[written.key()];
  expected.revision = std::max(expected.revision, written.revision());
}

void Informer::note_deleted(const ObjectKey& key, std::string uid) {
  expected_[key].deleted_uid = std::move(uid);
}

bool Informer::is_fresh(const ObjectKey& key) {
  auto found = expected_.find(key);
  if (found == expected_.end()) {
    return true;
  }
  const Expected& expected = found->second;
  ObjectRef object = store_.get(key);
  const bool seen = seen_revision_ >= expected.revision ||
                    (object != nullptr && object->revision() >= expected.revision);
  const bool deletion_seen =
      expected.deleted_uid.empty() || object == nullptr || object->uid() != expected.deleted_uid;
  if (!seen || !deletion_seen) {
    return false;
  }
  expected_.erase(found);
  return true;
}

Task<Result<void>> Informer::fresh(ObjectKey key, Duration patience) {
  if (is_fresh(key)) {
    co_return Result<void>();
  }
  const Instant deadline = after(env_.loop.now(), patience);
  // A timer stands for the last look; the waits themselves follow the events.
  bool late = false;
  TimerId timer = env_.loop.start_timer(deadline, [&] {
    late = true;
    change_waiters_.notify_all();
  });
  Result<void> result;
  while (result && !late && !is_fresh(key)) {
    result = co_await change_waiters_.wait();
  }
  env_.loop.cancel_timer(timer);
  if (result && !is_fresh(key)) {
    result = fail(unavailable("the cache of " + type_.qualified_name() +
                              " has not seen the last write to " + key.to_string() + " yet"));
  }
  co_return result;
}

}  // namespace codeflare::runtime
