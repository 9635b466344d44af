#pragma once

#include "base/env/backoff.h"
#include "base/env/env.h"
#include "elastic/store.h"

#include <optional>
#include <string>

namespace codeflare::elastic::internal {

// One look at a key.
struct Sighting {
  StoreEntry entry{};
  // When it changes, the lease was renewed; empty for keys without one.
  std::string renewed{};
  Duration ttl{};
};

// The watch of a key of a remote store: read, then follow the stream until it breaks, then read
// again. A stream that stays silent is given up after a while, so a lost connection costs seconds.
//
//   reading ──found──> following ──end, error, silence──> reading (after a wait when it failed)
//
// A lease has run out when its renewal was not seen to change for its time, by our own clock: the
// clocks of other machines may be wrong.
class StateWatch : public StoreWatch {
 public:
  StateWatch(Env env, StoreKey key);

  Task<Result<StoreEntry>> next() final;

 protected:
  // The key as it is, and where open() is to begin.
  virtual Task<Result<Sighting>> read() = 0;
  // Opens the stream behind the last read().
  virtual Task<Result<void>> open() = 0;
  // The next change of the stream; nothing at its end in good order.
  virtual Task<Result<std::optional<Sighting>>> follow() = 0;
  virtual void close() = 0;

  const StoreKey& key() const { return key_; }

 private:
  Task<Result<std::optional<Sighting>>> look();
  Task<Result<void>> start_over(bool wait);
  std::optional<StoreEntry> news(const Sighting& sighting);
  std::optional<Instant> expiry() const;

  Env env_;
  StoreKey key_;
  Backoff backoff_;
  bool following_ = false;
  Instant opened_at_{};
  std::optional<Sighting> last_;
  Instant renewed_at_{};
  bool expired_ = false;
};

}  // namespace codeflare::elastic::internal
