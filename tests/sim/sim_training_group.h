#pragma once

#include "base/async/wait_list.h"
#include "base/result.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace codeflare::sim {

// State that outlives the workers of a pod (LATTICE_STATE_DIR), and is lost with the pod.
struct PodState {
  std::int64_t step = 0;
  bool lost = false;  // the pod is gone
};

// Judges what groups commit. A step counts when all ranks of its group made it.
class TrainingJudge {
 public:
  using Say = std::function<void(const std::string&)>;
  explicit TrainingJudge(Say say) : say_(std::move(say)) {}

  // A group has met, with the state of its source; `best` is the most that a living member has.
  void formed(std::int64_t generation, std::int64_t step, std::int64_t best);
  void committed(std::int64_t generation, std::int64_t step);
  // Nobody holds the newest step any more: an older one may come again.
  void forgive_rollback_to(std::int64_t step) { last_ = std::min(last_, step); }

  std::int64_t last_step() const { return last_; }
  std::int64_t last_generation() const { return generation_; }
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t commits() const { return commits_; }
  std::uint64_t groups() const { return groups_; }

 private:
  void complain(std::string what);

  Say say_;
  std::int64_t last_ = 0;
  std::int64_t generation_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t groups_ = 0;
  std::vector<std::string> violations_;
};

// The collectives of one group: every step waits for all ranks. A rank that is missing makes all
// others wait, as gloo does.
class TrainingGroup {
 public:
  TrainingGroup(TrainingJudge& judge, std::int64_t generation, std::int32_t size,
                std::int32_t source)
      : judge_(judge), generation_(generation), size_(size), source_(source) {}

  // Meets the others; the state of the source is everybody's afterwards. Fails when left.
  Task<Result<void>> meet(std::int32_t rank, std::shared_ptr<PodState> state);
  // One step with everybody.
  Task<Result<void>> step(std::int32_t rank);
  // Ends the waits of this rank: it shut its sockets down or died.
  void leave(std::int32_t rank);

 private:
  Task<Result<void>> barrier(std::int32_t rank, std::function<void()> whole);

  TrainingJudge& judge_;
  std::int64_t generation_;
  std::int32_t size_;
  std::int32_t source_;
  std::map<std::int32_t, std::shared_ptr<PodState>> members_;
  std::set<std::int32_t> arrived_;
  std::set<std::int32_t> left_;
  std::uint64_t turn_ = 0;
  WaitList changed_;
};

}  // namespace codeflare::sim
