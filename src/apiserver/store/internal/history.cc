#include "apiserver/store/internal/history.h"

#include "base/async/sleep.h"

#include <utility>

namespace codeflare::apiserver {

const Event& History::add(Collection& collection, Event event, Instant now) {
  // Memory that the event alone keeps alive: the state before it, and that of a removal. The state
  // after is the current one, until the next event pays for it.
  std::size_t bytes = sizeof(Event) + sizeof(Entry);
  if (event.before) {
    bytes += sizeof(Object) + event.before->json().size();
  }
  if (event.op == Write::Op::remove) {
    bytes += sizeof(Object) + event.object->json().size();
  }
  entries_.push_back({&collection, now, bytes});
  bytes_ += bytes;
  return collection.events.emplace_back(std::move(event));
}

void History::trim(Instant now) {
  while (!entries_.empty() &&
         (bytes_ > limits_.bytes_max || now - entries_.front().time >= limits_.age_max)) {
    forget_oldest();
  }
}

void History::forget(Revision through) {
  while (!entries_.empty() && entries_.front().collection->events.front().revision <= through) {
    forget_oldest();
  }
}

std::optional<Instant> History::next_expiry() const {
  if (entries_.empty()) {
    return std::nullopt;
  }
  return after(entries_.front().time, limits_.age_max);
}

void History::forget_oldest() {
  Entry entry = entries_.front();
  entries_.pop_front();
  bytes_ -= entry.bytes;
  Collection& collection = *entry.collection;
  collection.history_start = collection.events.front().revision;
  collection.events.pop_front();
  ++collection.events_forgotten;
}

}  // namespace codeflare::apiserver
