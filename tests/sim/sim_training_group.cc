#include "tests/sim/sim_training_group.h"

#include <algorithm>
#include <utility>

namespace codeflare::sim {

void TrainingJudge::complain(std::string what) {
  say_("VIOLATION " + what);
  violations_.push_back(std::move(what));
}

void TrainingJudge::formed(std::int64_t generation, std::int64_t step, std::int64_t best) {
  ++groups_;
  say_("generation " + std::to_string(generation) + " begins at step " + std::to_string(step));
  if (step < best) {
    complain("generation " + std::to_string(generation) + " begins at step " +
             std::to_string(step) + " although a member has " + std::to_string(best));
  } else if (step > furthest_) {
    complain("generation " + std::to_string(generation) + " begins at step " +
             std::to_string(step) + ", but only " + std::to_string(furthest_) + " were committed");
  }
  repeated_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, last_ - step));
  last_ = step;
}

void TrainingJudge::committed(std::int64_t generation, std::int64_t step) {
  ++commits_;
  if (generation < generation_) {
    complain("step " + std::to_string(step) + " was committed by generation " +
             std::to_string(generation) + " after one of generation " +
             std::to_string(generation_));
  } else if (step != last_ + 1) {
    complain("step " + std::to_string(step) + " of generation " + std::to_string(generation) +
             " follows step " + std::to_string(last_));
  }
  generation_ = std::max(generation_, generation);
  last_ = step;
  furthest_ = std::max(furthest_, step);
}

Task<Result<void>> TrainingGroup::barrier(std::int32_t rank, std::function<void()> whole) {
  if (left_.contains(rank)) {
    co_return fail(unavailable("left"));
  }
  const std::uint64_t turn = turn_;
  arrived_.insert(rank);
  if (static_cast<std::int32_t>(arrived_.size()) == size_) {
    arrived_.clear();
    ++turn_;
    whole();
    changed_.notify_all();
    co_return Result<void>();
  }
  while (turn_ == turn && !left_.contains(rank)) {
    CO_TRY(co_await changed_.wait());
  }
  co_return turn_ != turn ? Result<void>() : fail(unavailable("left"));
}

Task<Result<void>> TrainingGroup::meet(std::int32_t rank, std::shared_ptr<PodState> state) {
  members_[rank] = std::move(state);
  return barrier(rank, [this] {
    std::int64_t best = 0;
    for (const auto& [other, held] : members_) {
      best = std::max(best, held->step);
    }
    const bool behind = best < saved_.newest();
    const std::int64_t step = behind ? saved_.newest() : members_[source_]->step;
    best = std::max(best, saved_.newest());
    judge_.formed(generation_, step, best);
    for (auto& [other, held] : members_) {
      held->step = step;
    }
  });
}

Task<Result<void>> TrainingGroup::step(std::int32_t rank) {
  return barrier(rank, [this] {
    const std::int64_t step = members_.begin()->second->step + 1;
    for (auto& [other, held] : members_) {
      held->step = step;
    }
    judge_.committed(generation_, step);
  });
}

void TrainingGroup::leave(std::int32_t rank) {
  left_.insert(rank);
  arrived_.erase(rank);
  changed_.notify_all();
}

}  // namespace codeflare::sim
