#include "runtime/event_correlator.h"

#include <algorithm>
#include <utility>

namespace codeflare::runtime {

namespace {

constexpr std::size_t kSimilarMax = 10;
constexpr Duration kSimilarWindow = std::chrono::minutes(10);
constexpr double kBurst = 25;
constexpr Duration kRefill = std::chrono::minutes(5);
// Older entries no longer change any decision.
constexpr Duration kKeep = std::chrono::hours(3);

std::string subject_key(const EventRecord& record) {
  const EventSubject& s = record.subject;
  return s.gvk.api_version() + '\0' + s.gvk.kind + '\0' + s.key.ns + '\0' + s.key.name + '\0' +
         s.uid;
}

std::string similar_key(const EventRecord& record) {
  return subject_key(record) + '\0' + (record.warning ? 'W' : 'N') + record.reason;
}

}  // namespace

EventCorrelator::Decision EventCorrelator::decide(const EventRecord& record, WallTime now) {
  forget_old(now);
  Decision decision;
  decision.message = record.message;
  decision.key = similar_key(record) + '\0' + record.message;

  Similar& similar = similar_[similar_key(record)];
  if (now - similar.last > kSimilarWindow) {
    similar.seen.clear();
  }
  similar.last = now;
  if (similar.seen.size() < kSimilarMax || similar.seen.contains(record.message)) {
    similar.seen.insert(record.message);
  } else {
    decision.message = "(combined from similar events): " + record.message;
    decision.key = similar_key(record) + '\0';
  }

  Series& series = series_[decision.key];
  if (series.count == 0) {
    series.first = now;
  }
  ++series.count;
  series.last = now;
  decision.count = series.count;
  decision.first = series.first;
  decision.event_name = series.event_name;
  if (!allow(record, now)) {
    decision.kind = Decision::Kind::drop;
  } else if (!series.event_name.empty()) {
    decision.kind = Decision::Kind::count;
  }
  return decision;
}

void EventCorrelator::created(const std::string& series, std::string event_name) {
  if (auto found = series_.find(series); found != series_.end()) {
    found->second.event_name = std::move(event_name);
  }
}

void EventCorrelator::lost(const std::string& series) {
  created(series, {});
}

bool EventCorrelator::allow(const EventRecord& record, WallTime now) {
  auto [at, fresh] = buckets_.try_emplace(subject_key(record), Bucket{kBurst, now});
  Bucket& bucket = at->second;
  const auto passed = std::chrono::duration<double>(now - bucket.last);
  bucket.tokens = std::min(kBurst, bucket.tokens + passed / std::chrono::duration<double>(kRefill));
  bucket.last = now;
  if (bucket.tokens < 1) {
    return false;
  }
  bucket.tokens -= 1;
  return true;
}

// At most once a minute, so that the cost per event stays constant.
void EventCorrelator::forget_old(WallTime now) {
  if (swept_ && now - *swept_ < std::chrono::minutes(1)) {
    return;
  }
  swept_ = now;
  auto old = [now](const auto& entry) { return now - entry.second.last > kKeep; };
  std::erase_if(series_, old);
  std::erase_if(similar_, old);
  std::erase_if(buckets_, old);
}

}  // namespace codeflare::runtime
