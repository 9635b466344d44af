#include "apiserver/store/internal/watch_cursor.h"

#include "base/check.h"

#include <algorithm>
#include <string>
#include <utility>

namespace codeflare::apiserver {

void Collection::tell() {
  changed.notify_all();
  for (const Listening& one : listening) {
    one.listener->on_change();
  }
}

Cursor::~Cursor() {
  if (listens_) {
    std::vector<Collection::Listening>& all = collection_.listening;
    all[place_] = all.back();
    all[place_].cursor->place_ = place_;
    all.pop_back();
  }
}

void Cursor::listen(ChangeListener& listener) {
  CHECK(!listens_, "a cursor has one listener");
  listens_ = true;
  place_ = collection_.listening.size();
  collection_.listening.push_back({this, &listener});
}

Task<Result<const Event*>> Cursor::next() {
  while (true) {
    if (const Event* event = ready()) {
      co_return event;
    }
    switch (state()) {
      case State::expired:
        co_return fail(expired(collection_.name + ": the history after revision " +
                               std::to_string(position_) + " is gone"));
      case State::closed:
        co_return fail(cancelled("the store is closed"));
      case State::open:
        break;
    }
    CO_TRY(co_await collection_.changed.wait());
  }
}

ListenedCursor::State Cursor::state() const {
  return next_event_ < collection_.events_forgotten ? State::expired
         : store_.closed()                          ? State::closed
                                                    : State::open;
}

const Event* Cursor::ready() {
  if (next_event_ < collection_.events_forgotten) {
    return nullptr;
  }
  while (!has_caught_up()) {
    const Event& event = collection_.events[next_event_ - collection_.events_forgotten];
    ++next_event_;
    // A position that was still to come skips what happens before it.
    if (event.revision > position_) {
      current_ = event;
      position_ = event.revision;
      return &current_;
    }
  }
  return nullptr;
}

Revision Cursor::position() const {
  return has_caught_up() ? std::max(position_, store_.revision()) : position_;
}

std::unique_ptr<ListenedCursor> listened(std::unique_ptr<WatchCursor> cursor) {
  auto* as_it_is = dynamic_cast<ListenedCursor*>(cursor.get());
  CHECK(as_it_is != nullptr, "a cursor of another store");
  static_cast<void>(cursor.release());
  return std::unique_ptr<ListenedCursor>(as_it_is);
}

}  // namespace codeflare::apiserver
