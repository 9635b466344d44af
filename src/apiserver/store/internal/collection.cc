#include "apiserver/store/internal/collection.h"

#include <algorithm>
#include <map>
#include <utility>

namespace codeflare::apiserver {

namespace {

// Which keys a range covers.
class RangeBounds {
 public:
  explicit RangeBounds(const Store::Range& range) : range_(range) {
    if (range.ns) {
      first_.ns = *range.ns;
    }
    if (range.after) {
      KeyView after{range.after->first, range.after->second};
      if (after >= first_) {
        first_ = after;
        excludes_first_ = true;
      }
    }
  }

  template <typename Container>
  auto begin_of(const Container& container) const {
    return excludes_first_ ? container.upper_bound(first_) : container.lower_bound(first_);
  }
  bool is_before(const KeyView& key) const {
    return excludes_first_ ? key <= first_ : key < first_;
  }
  bool is_beyond(const KeyView& key) const { return range_.ns && key.ns > *range_.ns; }

 private:
  const Store::Range& range_;
  KeyView first_;
  bool excludes_first_ = false;
};

}  // namespace

std::uint64_t Collection::event_after(Revision revision) const {
  auto found = std::ranges::upper_bound(events, revision, {}, &Event::revision);
  return events_forgotten + static_cast<std::uint64_t>(found - events.begin());
}

ObjectPtr Collection::put(const ObjectPtr& object) {
  auto found = objects.lower_bound(key_of(*object));
  if (found == objects.end() || key_of(**found) != key_of(*object)) {
    objects.emplace_hint(found, object);
    return nullptr;
  }
  auto hint = std::next(found);
  auto node = objects.extract(found);
  ObjectPtr before = std::exchange(node.value(), object);
  objects.insert(hint, std::move(node));
  return before;
}

ObjectPtr Collection::erase(const KeyView& key) {
  auto found = objects.find(key);
  if (found == objects.end()) {
    return nullptr;
  }
  return std::move(objects.extract(found).value());
}

void Collection::visit_now(const Store::Range& range, const Visitor& visitor) const {
  RangeBounds bounds(range);
  for (auto at = bounds.begin_of(objects); at != objects.end(); ++at) {
    if (bounds.is_beyond(key_of(**at)) || !visitor(*at)) {
      return;
    }
  }
}

void Collection::visit_then(const Store::Range& range, const Visitor& visitor) const {
  RangeBounds bounds(range);
  // The state at each key that changed since; of several events the earliest knows.
  std::map<KeyView, const ObjectPtr*> undone;
  for (auto event = events.rbegin(); event != events.rend() && event->revision > range.at;
       ++event) {
    KeyView key = key_of(*event->object);
    if (!bounds.is_before(key) && !bounds.is_beyond(key)) {
      undone[key] = &event->before;
    }
  }
  auto now = bounds.begin_of(objects);
  auto then = undone.begin();
  while (now != objects.end() || then != undone.end()) {
    bool take_then = then != undone.end() && (now == objects.end() || then->first <= key_of(**now));
    if (!take_then) {
      if (bounds.is_beyond(key_of(**now)) || !visitor(*now)) {
        return;
      }
      ++now;
      continue;
    }
    if (now != objects.end() && then->first == key_of(**now)) {
      ++now;
    }
    const ObjectPtr& before = *then->second;
    ++then;
    if (before && !visitor(before)) {
      return;
    }
  }
}

}  // namespace codeflare::apiserver
