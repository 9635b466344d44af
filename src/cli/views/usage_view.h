#pragma once

#include "base/result.h"
#include "base/time.h"
#include "usage/interval.h"
#include "usage/ledger.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli {

// A pod that is not in the ledger yet.
struct UncountedPod {
  std::string uid{};
  std::string queue{};
  std::string job{};
  usage::PodTimes times{};
  std::map<std::string, std::int64_t> units{};
};

struct NamespaceUsage {
  std::string ns{};
  usage::Ledger ledger{};
  std::vector<UncountedPod> pods{};
};

enum class UsageBy : std::uint8_t { ns, queue, job };

struct UsageRow {
  std::string ns{};
  std::string group{};  // the queue or the job; empty by namespace
  std::string resource{};
  std::int64_t counted = 0;  // unit seconds of pods that have ended
  std::int64_t running = 0;  // of pods that are not in the ledger yet
};

// "2026-11-01", or "7d" before now: the UTC day.
Result<std::string> since_day(std::string_view text, WallTime now);

// Sums by namespace, queue or job and by resource, sorted. With a day: since its beginning. A job
// has no days: an error.
Result<std::vector<UsageRow>> usage_rows(const std::vector<NamespaceUsage>& all, UsageBy by,
                                         const std::optional<std::string>& since, WallTime now);

std::string usage_table(const std::vector<UsageRow>& rows, UsageBy by);
std::string usage_csv(const std::vector<UsageRow>& rows, UsageBy by);
std::string usage_json(const std::vector<UsageRow>& rows, UsageBy by);

}  // namespace codeflare::cli
