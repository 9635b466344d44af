#pragma once

#include "base/async/sleep.h"
#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/watcher.h"
#include "model/resources.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sdk::internal {

// Objects of one kind, as a watcher tells of them.
template <typename T>
class Followed {
 public:
  // `changed` is notified whenever something is different.
  Followed(kube::Client& client, kube::WatcherOptions options, WaitList& changed)
      : watcher_(client, model::resource_type<T>(), std::move(options)), changed_(changed) {}

  Task<void> follow() {
    while (true) {
      const Result<kube::WatcherEvent> event = co_await watcher_.next();
      if (!event) {
        co_return;  // cancelled
      }
      take(*event);
    }
  }
  bool synced() const { return synced_; }
  // Why it is not synced, when waiting does not help.
  const Error* hindrance() const {
    const std::optional<Error>& error = watcher_.last_error();
    return !synced_ && error &&
                   (error->code == ErrorCode::permission_denied ||
                    error->code == ErrorCode::unauthenticated)
               ? &*error
               : nullptr;
  }
  std::vector<T> objects() const {
    std::vector<T> all;
    for (const auto& [name, object] : objects_) {
      all.push_back(object);
    }
    return all;
  }
  const T* first() const { return objects_.empty() ? nullptr : &objects_.begin()->second; }

 private:
  void take(const kube::WatcherEvent& event) {
    using Type = kube::WatcherEvent::Type;
    switch (event.type) {
      case Type::init_begin:
        fresh_.clear();
        return;
      case Type::init_object:
        put(fresh_, event.object);
        return;
      case Type::init_done:
        objects_ = std::move(fresh_);
        fresh_.clear();
        synced_ = true;
        break;
      case Type::applied:
        put(objects_, event.object);
        break;
      case Type::deleted:
        objects_.erase(std::string(event.object->name()));
        break;
      case Type::progress:
        return;
    }
    changed_.notify_all();
  }
  static void put(std::map<std::string, T>& to, const kube::ObjectRef& object) {
    if (Result<T> typed = object->as<T>()) {
      to.insert_or_assign(std::string(object->name()), *std::move(typed));
    }
  }

  kube::Watcher watcher_;
  WaitList& changed_;
  bool synced_ = false;
  std::map<std::string, T> objects_;
  std::map<std::string, T> fresh_;
};

// A watcher that may not look tells nobody: look again after this.
inline constexpr Duration kLookAgain = std::chrono::seconds(5);

inline Task<Result<void>> next_change(WaitList& changed, Duration at_most) {
  const auto wait = [](WaitList& list) -> Task<Result<void>> { co_return co_await list.wait(); };
  Result<void> woken = co_await with_timeout(at_most, "a change", wait(changed));
  if (!woken && woken.error().code == ErrorCode::deadline_exceeded) {
    co_return Result<void>();
  }
  co_return woken;
}

}  // namespace codeflare::sdk::internal
