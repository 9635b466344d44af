#pragma once

#include "base/time.h"
#include "elastic/documents.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

// The controller's part of the protocol (docs/decisions/0014), without I/O.
namespace codeflare::elastic {

// One pod of the plan.
struct PodFacts {
  std::int32_t index = 0;
  std::string uid{};
  bool leaving = false;  // the plan wants it to go
  bool ended = false;    // its processes are gone for sure: deleted, succeeded or failed
  bool lost = false;     // its lease ran out, or its node is not ready
  // Its document, if it has written one in this pod.
  std::optional<Member> member{};
};

struct MembershipFacts {
  Membership current{};
  std::optional<Round> round{};  // the last that was written
  std::vector<PodFacts> pods{};  // by index
  std::int32_t size_min = 1;
  bool suspended = false;
  WallTime now{};
  // New pods are waited for until then; nothing: for all of them.
  std::optional<WallTime> growth_deadline{};
  // From a membership to `notAfter`: the grace and the time to start.
  Duration ready_patience = std::chrono::seconds(60);
  // The greatest allowed size that is at most the argument; empty: every size is allowed.
  std::function<std::int32_t(std::int32_t)> allowed{};
  // Checkpoints of older generations are rejected, so that a group that is out of reach can be
  // replaced as a whole.
  bool fenced = false;
};

struct RestartCounts {
  std::int64_t user = 0;
  std::int64_t infrastructure = 0;
  std::int64_t scaling = 0;

  friend bool operator==(const RestartCounts&, const RestartCounts&) = default;
};

struct MembershipDecision {
  // To be written together with the counts: so each failure is counted once.
  std::optional<Membership> next{};
  RestartCounts counted{};
  std::string message{};                 // why it changes, or what it waits for
  std::optional<WallTime> look_again{};  // nothing: when a fact changes
};

// The next members. Survivors go on at once when they are enough; growth waits until all new
// members have registered, and until the group that runs has begun. A membership below the minimum
// is a pause. A new group is published only if the group of the last round cannot step beside it:
// one of its members belongs to the new group too (and has to leave the old one first), has left,
// or its processes are gone.
MembershipDecision decide_membership(const MembershipFacts& facts);

// Whether a Lease has run out, by the reader's own clock: since its renewal was last seen to
// change.
class LeaseJudge {
 public:
  void see(const std::string& lease, const std::string& renewed, Instant now);
  bool has_run_out(const std::string& lease, Duration ttl, Instant now) const;
  void forget(const std::string& lease) { seen_.erase(lease); }

 private:
  struct Seen {
    std::string renewed;
    Instant at{};
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace codeflare::elastic
