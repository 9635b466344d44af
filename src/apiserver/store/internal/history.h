#pragma once

#include "apiserver/store/internal/collection.h"
#include "apiserver/store/store.h"
#include "base/time.h"

#include <cstddef>
#include <deque>
#include <optional>

namespace codeflare::apiserver {

// Keeps the events of all collections within bounds: the oldest is forgotten first, whichever
// collection it belongs to.
class History {
 public:
  struct Limits {
    std::size_t bytes_max = 0;
    Duration age_max{};
  };
  explicit History(Limits limits) : limits_(limits) {}

  // Appends to the collection's queue.
  const Event& add(Collection& collection, Event event, Instant now);
  // Forgets what exceeds the limits.
  void trim(Instant now);
  // Forgets events up to the revision.
  void forget(Revision through);

  std::size_t bytes() const { return bytes_; }
  // When the oldest event is due to be forgotten.
  std::optional<Instant> next_expiry() const;

 private:
  struct Entry {
    Collection* collection;
    Instant time;
    std::size_t bytes;
  };
  void forget_oldest();

  Limits limits_;
  std::deque<Entry> entries_;  // in order of revision
  std::size_t bytes_ = 0;
};

}  // namespace codeflare::apiserver
