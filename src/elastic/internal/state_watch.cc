#include "elastic/internal/state_watch.h"

#include "base/async/sleep.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::elastic::internal {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kReadPatience = seconds(5);
// Streams carry nothing while nothing changes: only a fresh look tells a quiet one from a lost one.
constexpr Duration kStreamPatience = seconds(15);
// A server that ends streams at once is not asked again at once.
constexpr Duration kShortestStream = seconds(1);

}  // namespace

StateWatch::StateWatch(Env env, StoreKey key)
    : env_(env),
      key_(key),
      backoff_({.initial = milliseconds(100), .max = seconds(3), .reset_after = seconds(10)},
               env.random) {}

Task<Result<StoreEntry>> StateWatch::next() {
  while (true) {
    if (const std::optional<Instant> end = expiry(); end && env_.clock.now() >= *end) {
      expired_ = true;
      co_return StoreEntry{.value = {}, .version = last_->entry.version};
    }
    Result<std::optional<Sighting>> seen = co_await look();
    if (!seen && seen.error().code == ErrorCode::cancelled) {
      co_return fail(std::move(seen).error());
    }
    if (!seen || !*seen) {
      CO_TRY(co_await start_over(!seen || env_.clock.now() - opened_at_ < kShortestStream));
    } else if (std::optional<StoreEntry> entry = news(**seen)) {
      co_return *std::move(entry);
    }
  }
}

Task<Result<void>> StateWatch::start_over(bool wait) {
  following_ = false;
  close();
  if (wait) {
    Duration pause = backoff_.next(env_.clock.now());
    if (const std::optional<Instant> end = expiry()) {
      pause = std::min(pause, std::max(Duration::zero(), *end - env_.clock.now()));
    }
    CO_TRY(co_await sleep_for(pause));
  }
  co_return Result<void>();
}

Task<Result<std::optional<Sighting>>> StateWatch::look() {
  if (!following_) {
    CO_TRY_ASSIGN(Sighting seen,
                  co_await with_timeout(kReadPatience, "read " + key_.to_string(), read()));
    CO_TRY(co_await with_timeout(kReadPatience, "watch " + key_.to_string(), open()));
    following_ = true;
    opened_at_ = env_.clock.now();
    co_return std::optional(std::move(seen));
  }
  Duration patience = kStreamPatience;
  if (const std::optional<Instant> end = expiry()) {
    patience = std::min(patience, std::max(Duration::zero(), *end - env_.clock.now()));
  }
  Result<std::optional<Sighting>> seen =
      co_await with_timeout(patience, "watch " + key_.to_string(), follow());
  if (!seen && seen.error().code == ErrorCode::deadline_exceeded) {
    co_return std::optional<Sighting>();
  }
  co_return seen;
}

// A value that was not told yet.
std::optional<StoreEntry> StateWatch::news(const Sighting& sighting) {
  if (!last_ || last_->renewed != sighting.renewed || last_->entry.value != sighting.entry.value) {
    renewed_at_ = env_.clock.now();
    const bool told = last_ && !expired_ && last_->entry.value == sighting.entry.value;
    expired_ = false;
    last_ = sighting;
    return told ? std::nullopt : std::optional(sighting.entry);
  }
  last_->entry.version = sighting.entry.version;
  return std::nullopt;
}

std::optional<Instant> StateWatch::expiry() const {
  if (!last_ || !last_->entry.value || last_->ttl == Duration::zero() || expired_) {
    return std::nullopt;
  }
  return after(renewed_at_, last_->ttl);
}

}  // namespace codeflare::elastic::internal
