#pragma once

#include "apiserver/store/store.h"

#include <cstdint>
#include <memory>

namespace codeflare::apiserver {

// Hears of changes without a coroutine that waits for them.
class ChangeListener {
 public:
  // There may be news for the cursor: an event, or the end of the store. Called on the loop, inside
  // the commit: it may wake tasks, nothing else.
  virtual void on_change() = 0;

 protected:
  ~ChangeListener() = default;
};

// The second interface of the store's cursors: next() in parts, for those who wait for other things
// as well, or who are so many that a coroutine for each wait counts.
class ListenedCursor : public WatchCursor {
 public:
  enum class State : std::uint8_t { open, expired, closed };
  // When ready() has nothing: whether there is more to come.
  virtual State state() const = 0;
  // Until the cursor goes; the listener outlives it.
  virtual void listen(ChangeListener& listener) = 0;
};

// A cursor of Store::watch() as what it is.
std::unique_ptr<ListenedCursor> listened(std::unique_ptr<WatchCursor> cursor);

}  // namespace codeflare::apiserver
