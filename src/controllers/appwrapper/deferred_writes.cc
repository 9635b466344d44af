#include "controllers/appwrapper/deferred_writes.h"

#include "base/async/sleep.h"

#include <chrono>
#include <utility>

namespace codeflare::controllers {

namespace {

// Reasons to wait are written while the workers have less than this to do, and one in each pause
// however much there is: on a server that is busy with starts and ends each of them would come
// later, and work that starts before its reason was written needs none. So few at a time do not
// slow a server down by themselves.
constexpr std::size_t kBusyEnough = 4;
constexpr Duration kRefusalPause = std::chrono::milliseconds(200);
// More than reasons to wait alone ever make: so many starts and ends wait that each write less is
// time won. On a slow server, where reasons wait, less is enough.
constexpr std::size_t kFlooded = 48;
constexpr std::size_t kFloodedWhenSlow = 16;
// Pod counts are nobody's business while there is more to do: each of thousands that run would have
// some every few seconds, and the server would be slower for those who start, run and end.
constexpr std::size_t kIdleEnough = 4;
constexpr Duration kIdlePause = std::chrono::milliseconds(250);

}  // namespace

DeferredWrites::Line DeferredWrites::refusals() {
  return {.enough = kBusyEnough, .pause = kRefusalPause};
}

DeferredWrites::Line DeferredWrites::idle_writes() {
  return {.enough = kIdleEnough, .pause = kIdlePause};
}

bool DeferredWrites::flooded(std::size_t unfinished, Instant now) const {
  return unfinished >= (pace_.is_slow(now) ? kFloodedWhenSlow : kFlooded);
}

bool DeferredWrites::may_write_idly(const std::string& uid, std::size_t unfinished, Instant now) {
  if (may_write_.erase(uid) > 0 || (idle_.uids.empty() && unfinished < kIdleEnough)) {
    return true;
  }
  idle_.add(uid, now);
  return false;
}

void DeferredWrites::forget(const std::string& uid) {
  refused_.waiting.erase(uid);
  idle_.waiting.erase(uid);
  may_write_.erase(uid);
}

void DeferredWrites::release(Instant now, const Unfinished& unfinished, const Release& go) {
  release(refused_, now, unfinished, go.refusal);
  release(unplaced_, now, unfinished, go.unplaced);
  release(idle_, now, unfinished, [&](const std::string& uid) {
    may_write_.insert(uid);
    if (go.idle(uid)) {
      return true;
    }
    may_write_.erase(uid);
    return false;
  });
}

void DeferredWrites::release(Line& line, Instant now, const Unfinished& unfinished, const Go& go) {
  const auto at_leisure = [&] { return unfinished() < line.enough && !pace_.is_slow(now); };
  while (!line.uids.empty() && (now >= line.due || at_leisure())) {
    const std::string uid = std::move(line.uids.front());
    line.uids.pop_front();
    if (line.waiting.erase(uid) > 0 && go(uid)) {
      line.due = after(now, line.pause);
    }
  }
}

bool DeferredWrites::empty() const {
  return refused_.uids.empty() && unplaced_.uids.empty() && idle_.uids.empty();
}

void DeferredWrites::Line::add(const std::string& uid, Instant now) {
  if (!waiting.insert(uid).second) {
    return;
  }
  if (uids.empty()) {
    due = after(now, pause);
  }
  uids.push_back(uid);
}

}  // namespace codeflare::controllers
