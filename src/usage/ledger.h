#pragma once

#include "base/result.h"
#include "json/value.h"
#include "usage/interval.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Exact counting in two phases, without a disk: the ledger is an API object, and a pod keeps a
// finalizer until the ledger has it. Values in, values out.
//
//   observe ── count(): totals and the pod's UID in ONE write ── finalizer off ── UID dropped once
//   the cache shows the pod without the finalizer. A kill between any two of these changes nothing.
namespace codeflare::usage {

inline constexpr std::string_view kFinalizer = "usage.codeflare.dev/counted";
// Annotation of a pod: whose total it counts to, also when its job is gone.
inline constexpr std::string_view kQueueAnnotation = "usage.codeflare.dev/queue";
// The UsageLedger of a namespace.
inline constexpr std::string_view kLedgerName = "usage";
inline constexpr std::string_view kDefaultQueue = "default";

// Totals are kept by queue and resource.
struct Account {
  std::string queue{};
  std::string resource{};
  friend auto operator<=>(const Account&, const Account&) = default;
};

using Totals = std::map<Account, std::int64_t>;  // unit seconds

struct JobUsage {
  std::string name{};
  std::int64_t last_end = 0;  // of its pods, Unix seconds
  Totals totals{};
  friend bool operator==(const JobUsage&, const JobUsage&) = default;
};

struct Ledger {
  Totals totals{};
  std::map<std::string, Totals> days{};    // by UTC day, such as 2026-11-18
  std::map<std::string, JobUsage> jobs{};  // by UID
  // Pods that are in the totals and may still have the finalizer.
  std::set<std::string> counted{};
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// A pod as the cache shows it.
struct ObservedPod {
  std::string uid{};
  std::string queue{};
  std::string job_uid{};  // empty: of no job
  std::string job_name{};
  bool has_finalizer = true;
  bool is_over = false;  // ended, lost or deleted before it started
  std::optional<Interval> interval{};
  std::map<std::string, std::int64_t> units{};  // whole units by resource
};

struct Step {
  Ledger ledger{};                   // to write when it differs; before anything else
  std::vector<std::string> release;  // UIDs whose finalizer may go once the ledger is written
};

// All pods that carry or carried the finalizer must be observed from one cache.
Step count(const Ledger& ledger, const std::vector<ObservedPod>& pods);

// The seconds of an interval by UTC day; their sum is the interval.
std::map<std::string, std::int64_t> by_day(const Interval& interval);
std::string day_of(std::int64_t unix_seconds);

struct Retention {
  std::size_t days = 400;       // newest
  std::size_t gone_jobs = 200;  // that ended last, beside those that exist
};
// Forgets the detail of old days and of jobs that are gone. Totals stay.
void forget_old(Ledger& ledger, const std::set<std::string>& live_jobs, Retention retention = {});

// The status of a UsageLedger.
std::string ledger_text(const Ledger& ledger);
// status.usage of a TrainingJob: a ledger with totals alone.
std::string totals_text(const Totals& totals);
Result<Ledger> read_ledger(const json::Value& status);
Result<Ledger> parse_ledger(std::string_view text);

}  // namespace codeflare::usage
