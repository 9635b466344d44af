#include "apiserver/housekeeping/event_reaper.h"

#include "apiserver/registry/edit.h"
#include "base/async/sleep.h"
#include "base/check.h"
#include "json/parse.h"

#include <optional>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

namespace {

// After a deletion that failed.
constexpr Duration kRetryAfter = std::chrono::minutes(1);

}  // namespace

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
                     remember(*object, age_of(*object));
                     return true;
                   })
            .has_value());
  store.on_commit([this](CollectionId collection, const Event& event) {
    if (collection == events_ && event.op != Write::Op::remove) {
      remember(*event.object, Duration::zero());
      added_.notify_all();
    }
  });
  group.spawn(run());
}

void EventReaper::remember(const Object& event, Duration age) {
  entries_.emplace(after(env_.clock.now(), time_to_live_ - age),
                   Entry{.ns = std::string(event.ns()),
                         .name = std::string(event.name()),
                         .revision = event.revision()});
}

Duration EventReaper::age_of(const Object& event) const {
  const Result<json::Document> parsed = json::parse(event.json());
  CHECK(parsed.has_value());
  const json::Value& root = parsed->root;
  std::vector<std::string_view> times = {text_at(object_at(root, "metadata"), "creationTimestamp"),
                                         text_at(root, "lastTimestamp"), text_at(root, "eventTime"),
                                         text_at(object_at(root, "series"), "lastObservedTime")};
  for (const json::Value& entry : items_at(object_at(root, "metadata"), "managedFields")) {
    times.push_back(text_at(entry, "time"));
  }
  const WallTime now = env_.clock.wall();
  std::optional<WallTime> written;
  for (const std::string_view text : times) {
    if (const Result<WallTime> time = parse_rfc3339(text); time && (!written || *time > *written)) {
      written = *time;
    }
  }
  return written && *written < now ? now - *written : Duration::zero();
}

Task<void> EventReaper::run() {
  while (true) {
    if (entries_.empty()) {
      if (!co_await added_.wait()) {
        co_return;
      }
      continue;
    }
    if (!co_await sleep_until(entries_.begin()->first)) {
      co_return;
    }
    Entry entry = std::move(entries_.begin()->second);
    entries_.erase(entries_.begin());
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
    entries_.emplace(after(env_.clock.now(), kRetryAfter), std::move(entry));
  }
}

}  // namespace codeflare::apiserver
