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

  // A group has met and begins with `step`; `best` is the most that one of its members or the
  // checkpoint service has. Steps beyond were lost with the pods that had them, and come again; a
  // pod that comes back may have made them already.
  void formed(std::int64_t generation, std::int64_t step, std::int64_t best);
  void committed(std::int64_t generation, std::int64_t step);
  void complain(std::string what);

  std::int64_t last_step() const { return last_; }
  std::int64_t last_generation() const { return generation_; }
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t commits() const { return commits_; }
  std::uint64_t groups() const { return groups_; }
  std::uint64_t repeated() const { return repeated_; }  // steps that were lost and made again

 private:
  Say say_;
  std::int64_t last_ = 0;
  std::int64_t furthest_ = 0;
  std::int64_t generation_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t groups_ = 0;
  std::uint64_t repeated_ = 0;
  std::vector<std::string> violations_;
};

// The checkpoint service, as far as the training is concerned: the newest commit, and generations
// that are older than one it has seen are rejected.
class SavedSteps {
 public:
  void save(std::int64_t generation, std::int64_t step) {
    if (generation >= generation_) {
      step_ = generation > generation_ ? step : std::max(step_, step);
      generation_ = generation;
    }
  }
  std::int64_t newest() const { return step_; }

 private:
  std::int64_t generation_ = 0;
  std::int64_t step_ = 0;
};

// The collectives of one group: every step waits for all ranks. A rank that is missing makes all
// others wait, as gloo does.
class TrainingGroup {
 public:
  TrainingGroup(TrainingJudge& judge, const SavedSteps& saved, std::int64_t generation,
                std::int32_t size, std::int32_t source)
      : judge_(judge), saved_(saved), generation_(generation), size_(size), source_(source) {}

  // Meets the others; the state of the source is everybody's afterwards, or the saved one if that
  // is further. Fails when left.
  Task<Result<void>> meet(std::int32_t rank, std::shared_ptr<PodState> state);
  // One step with everybody.
  Task<Result<void>> step(std::int32_t rank);
  // Ends the waits of this rank: it shut its sockets down or died.
  void leave(std::int32_t rank);

 private:
  Task<Result<void>> barrier(std::int32_t rank, std::function<void()> whole);

  TrainingJudge& judge_;
  const SavedSteps& saved_;
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
