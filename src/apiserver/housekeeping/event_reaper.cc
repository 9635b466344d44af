#include "apiserver/housekeeping/event_reaper.h"

#include "base/async/sleep.h"
#include "base/check.h"

#include <utility>

namespace codeflare::apiserver {

EventReaper::EventReaper(Env env, TaskGroup& group, Logger log, Store& store, net::HttpService& api,
                         Duration time_to_live)
    : env_(env),
      log_(std::move(log)),
      store_(store),
      api_(api),
      time_to_live_(time_to_live),
      events_(store.collection("events")) {
  CHECK(store
            .visit(events_, {},
                   [&](const ObjectPtr& object) {
                     remember(*object);
                     return true;
                   })
            .has_value());
  store.on_commit([this](CollectionId collection, const Event& event) {
    if (collection == events_ && event.op != Write::Op::remove) {
      remember(*event.object);
      added_.notify_all();
    }
  });
  group.spawn(run());
}

void EventReaper::remember(const Object& event) {
  entries_.push_back({.due = after(env_.clock.now(), time_to_live_),
                      .ns = std::string(event.ns()),
                      .name = std::string(event.name()),
                      .revision = event.revision()});
}

Task<void> EventReaper::run() {
  while (true) {
    if (entries_.empty()) {
      if (!co_await added_.wait()) {
        co_return;
      }
      continue;
    }
    if (!co_await sleep_until(entries_.front().due)) {
      co_return;
    }
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    co_await remove(std::move(entry));
  }
}

Task<void> EventReaper::remove(Entry entry) {
  const ObjectPtr object = store_.get(events_, entry.ns, entry.name);
  if (object == nullptr || object->revision() != entry.revision) {
    co_return;  // gone, or written again: a later entry knows it
  }
  Result<void> result =
      co_await api_.remove("/api/v1/namespaces/" + entry.ns + "/events/" + entry.name,
                           std::string(object->uid()), "Background");
  if (!result && result.error().code != ErrorCode::cancelled) {
    log_.warn("an event outlives its time",
              {{"event", entry.ns + "/" + entry.name}, {"error", result.error().to_string()}});
    entry.due = after(env_.clock.now(), time_to_live_);
    entries_.push_back(std::move(entry));
  }
}

}  // namespace codeflare::apiserver
