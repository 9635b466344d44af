#pragma once

#include "apiserver/store/change_listener.h"
#include "apiserver/store/internal/store_impl.h"

#include <cstddef>
#include <cstdint>

namespace codeflare::apiserver {

class Cursor final : public ListenedCursor {
 public:
  Cursor(const StoreImpl& store, Collection& collection, Revision from)
      : store_(store),
        collection_(collection),
        next_event_(collection.event_after(from)),
        position_(from) {}
  ~Cursor() override;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  Task<Result<const Event*>> next() override;
  const Event* ready() override;
  Revision position() const override;
  State state() const override;
  void listen(ChangeListener& listener) override;

 private:
  bool has_caught_up() const {
    return next_event_ == collection_.events_forgotten + collection_.events.size();
  }

  const StoreImpl& store_;
  Collection& collection_;
  std::uint64_t next_event_;
  Revision position_;
  bool listens_ = false;
  std::size_t place_ = 0;  // among those who listen to the collection
  Event current_;          // a copy: the history may forget it while it is being sent
};

}  // namespace codeflare::apiserver
