#pragma once

#include "apiserver/store/internal/object_set.h"
#include "apiserver/store/store.h"
#include "base/async/wait_list.h"
#include "base/metrics.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace codeflare::apiserver {

class ChangeListener;
class Cursor;

// The committed objects of one resource and what happened to them lately.
struct Collection {
  CollectionId id = 0;
  std::string name;
  ObjectSet objects;

  std::deque<Event> events;
  // How many events were forgotten: the first one left has this number.
  std::uint64_t events_forgotten = 0;
  // Every event after this revision is in the queue.
  Revision history_start = 0;
  WaitList changed;
  struct Listening {
    Cursor* cursor;
    ChangeListener* listener;  // the cursor's own, here to notify all at once
  };
  std::vector<Listening> listening;  // in no order

  Gauge* size_gauge = nullptr;

  ObjectPtr find(const KeyView& key) const {
    auto found = objects.find(key);
    return found == objects.end() ? nullptr : *found;
  }
  // Number of the first event after the revision.
  std::uint64_t event_after(Revision revision) const;
  // Puts the object in place of whatever has its key; returns that. Null: nothing was there.
  ObjectPtr put(const ObjectPtr& object);
  ObjectPtr erase(const KeyView& key);
  // Tells everybody who waits for changes.
  void tell();

  using Visitor = std::function<bool(const ObjectPtr&)>;
  void visit_now(const Store::Range& range, const Visitor& visitor) const;
  // The state at range.at, which must not be before the history's start: what is there now, with
  // everything since then undone.
  void visit_then(const Store::Range& range, const Visitor& visitor) const;
};

}  // namespace codeflare::apiserver
