#include "controllers/appwrapper/conditions.h"

#include "queue/status_words.h"

#include <algorithm>

namespace codeflare::controllers {

using model::AppWrapperCondition;
using model::AppWrapperStatus;

namespace {

bool is_queued(const AppWrapperCondition& entry) {
  return entry.type == condition::kQueued;
}

AppWrapperCondition& entry_of(AppWrapperStatus& status, std::string_view type,
                              model::Reason reason) {
  auto& entries = status.conditions;
  const bool queued = type == condition::kQueued;
  auto at = std::ranges::find_if(entries, [&](const AppWrapperCondition& entry) {
    return entry.type == type && (queued || queue::has_reason(entry, reason));
  });
  if (at == entries.end()) {
    // Before our own entry, so that MCAD's come first and in order.
    at = queued ? entries.end() : std::ranges::find_if(entries, is_queued);
    at = entries.insert(at, AppWrapperCondition());
  }
  return *at;
}

}  // namespace

void touch(AppWrapperStatus& status, std::string_view type, const Words& words, WallTime now) {
  AppWrapperCondition& entry = entry_of(status, type, words.reason);
  entry.type = type;
  entry.status = words.status;
  entry.reason = queue::word(words.reason);
  entry.message = words.message;
  entry.last_update = model::MicroTime{now};
  entry.last_transition = model::MicroTime{now};
  if (type != condition::kQueued) {
    status.queue_job_state = type;
  }
}

const AppWrapperCondition* newest(const AppWrapperStatus& status, std::string_view type) {
  const AppWrapperCondition* best = nullptr;
  for (const AppWrapperCondition& entry : status.conditions) {
    if (entry.type == type && (best == nullptr || touched(&entry) >= touched(best))) {
      best = &entry;
    }
  }
  return best;
}

const AppWrapperCondition* find(const AppWrapperStatus& status, std::string_view type,
                                model::Reason reason) {
  auto at = std::ranges::find_if(status.conditions, [&](const AppWrapperCondition& entry) {
    return entry.type == type && queue::has_reason(entry, reason);
  });
  return at == status.conditions.end() ? nullptr : &*at;
}

WallTime touched(const AppWrapperCondition* condition) {
  return condition == nullptr || !condition->last_transition ? WallTime::min()
                                                             : condition->last_transition->time;
}

WallTime last_touched(const AppWrapperStatus& status) {
  WallTime latest = WallTime::min();
  for (const AppWrapperCondition& entry : status.conditions) {
    latest = std::max(latest, touched(&entry));
  }
  return latest;
}

}  // namespace codeflare::controllers
