#pragma once

#include "apiserver/store/internal/store_impl.h"

#include <cstdint>

namespace codeflare::apiserver {

class Cursor final : public WatchCursor {
 public:
  Cursor(const StoreImpl& store, Collection& collection, Revision from)
      : store_(store),
        collection_(collection),
        next_event_(collection.event_after(from)),
        position_(from) {}

  Task<Result<const Event*>> next() override;
  const Event* ready() override;
  Revision position() const override;

 private:
  bool has_caught_up() const {
    return next_event_ == collection_.events_forgotten + collection_.events.size();
  }

  const StoreImpl& store_;
  Collection& collection_;
  std::uint64_t next_event_;
  Revision position_;
  Event current_;  // a copy: the history may forget it while it is being sent
};

}  // namespace codeflare::apiserver
