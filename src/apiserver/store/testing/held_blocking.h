#pragma once

#include "base/env/env.h"

#include <cstddef>
#include <deque>
#include <utility>

namespace codeflare::apiserver {

// Lets a test look at the world between the sequencing of a write and its commit: while held,
// blocking work waits.
class HeldBlocking final : public Blocking {
 public:
  explicit HeldBlocking(Blocking& inner) : inner_(inner) {}

  void submit(Work work, Work done) override {
    if (!held_) {
      inner_.submit(std::move(work), std::move(done));
      return;
    }
    jobs_.emplace_back(std::move(work), std::move(done));
  }

  void hold() { held_ = true; }
  // Starts what waits; later work is not held.
  void release() {
    held_ = false;
    while (!jobs_.empty()) {
      release_one();
    }
  }
  void release_one() {
    auto [work, done] = std::move(jobs_.front());
    jobs_.pop_front();
    inner_.submit(std::move(work), std::move(done));
  }
  std::size_t waiting() const { return jobs_.size(); }

 private:
  Blocking& inner_;
  bool held_ = false;
  std::deque<std::pair<Work, Work>> jobs_;
};

}  // namespace codeflare::apiserver
