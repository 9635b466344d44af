#pragma once

#include "base/result.h"
#include "usage/interval.h"

#include <compare>
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

// Totals are kept by queue and resource.
struct Account {
  std::string queue{};
  std::string resource{};
  friend auto operator<=>(const Account&, const Account&) = default;
};

struct Ledger {
  std::map<Account, std::int64_t> unit_seconds{};
  // Pods that are in the totals and may still have the finalizer.
  std::set<std::string> counted{};
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// A pod as the cache shows it.
struct ObservedPod {
  std::string uid{};
  std::string queue{};
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

// The status of a UsageLedger, and status.usage of a TrainingJob.
std::string ledger_text(const Ledger& ledger);
Result<Ledger> parse_ledger(std::string_view text);

}  // namespace codeflare::usage
