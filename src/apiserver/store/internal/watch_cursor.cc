#include "apiserver/store/internal/watch_cursor.h"

#include <algorithm>
#include <string>

namespace codeflare::apiserver {

Task<Result<const Event*>> Cursor::next() {
  while (true) {
    if (next_event_ < collection_.events_forgotten) {
      co_return fail(expired(collection_.name + ": the history after revision " +
                             std::to_string(position_) + " is gone"));
    }
    if (const Event* event = ready()) {
      co_return event;
    }
    if (store_.closed()) {
      co_return fail(cancelled("the store is closed"));
    }
    CO_TRY(co_await collection_.changed.wait());
  }
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

}  // namespace codeflare::apiserver
