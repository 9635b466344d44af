#pragma once

#include "base/time.h"
#include "controllers/trainingjob/training_pods.h"
#include "elastic/documents.h"
#include "elastic/membership.h"
#include "model/training_job.h"
#include "runtime/store.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Words of the agents of a TrainingJob, read from their Leases (docs/decisions/0014).
namespace codeflare::controllers::trainingjob {

struct AgentWord {
  std::map<std::string, elastic::Member> members{};  // by UID of the pod
  std::set<std::string> lost{};                      // UIDs of pods whose Lease ran out
  std::optional<elastic::Round> round{};             // the last
  std::set<std::int64_t> leases{};                   // workers that have a Lease
  bool has_round_lease = false;
  bool progress_due = false;  // the last progress was written long enough ago

  const elastic::Member* member_of(const std::string& uid) const;
};

// Reads the Leases of jobs and remembers when each was last renewed.
class AgentWords {
 public:
  explicit AgentWords(const runtime::Store& leases) : leases_(leases) {}

  AgentWord of(const model::TrainingJob& job, const std::vector<WorkerPod>& pods, Instant now);
  void progress_written(const model::TrainingJob& job, Instant now);
  // Of jobs that are over, or gone.
  void forget(const model::ObjectKey& job) { known_.erase(job); }
  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    std::string uid;  // of the job
    elastic::LeaseJudge judge;
    std::optional<Instant> progress_at;
  };

  Known& known_of(const model::TrainingJob& job);

  const runtime::Store& leases_;
  std::map<model::ObjectKey, Known> known_;  // by job
};

// The next membership of a job with agents; `planned` are the workers that the plan keeps. Pure.
elastic::MembershipDecision agent_membership(const model::TrainingJob& job,
                                             const model::TrainingJobStatus& status,
                                             const std::set<std::int64_t>& planned,
                                             const std::vector<WorkerPod>& pods,
                                             const AgentWord& word, bool fenced, WallTime now);

model::TrainingMembership to_status(const elastic::Membership& membership);
elastic::Membership from_status(const std::optional<model::TrainingMembership>& membership);

// The word of the members that train about their saves.
struct Saving {
  std::string problem{};  // of the last save; empty: none, or nobody has tried yet
  std::int64_t step = 0;  // the newest saved one
};
Saving saving_of(const std::optional<model::TrainingMembership>& membership, const AgentWord& word);

// Of the members that train; nothing: nobody has told a step yet. Earlier saves stay
// saved.
std::optional<model::TrainingProgress> progress_of(
    const std::optional<model::TrainingMembership>& membership, const AgentWord& word,
    const std::optional<model::TrainingProgress>& before);

}  // namespace codeflare::controllers::trainingjob
