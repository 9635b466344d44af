#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "net/http.h"

#include <cstddef>
#include <string>

namespace codeflare::net {

// Limits the memory of all bodies that a server is still receiving: many clients that send
// most of a large body and then wait would take all of it. A small body is free, the
// number of connections bounds those; so whoever uses the budget up keeps out large bodies
// only.
class BodyBudget {
 public:
  static constexpr std::size_t kFreeBytes = 64u << 10;  // a body up to this size

  explicit BodyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;

  std::size_t held() const { return held_; }
  std::size_t bytes_max() const { return bytes_max_; }

  // The part of one body, given back at its end. The budget outlives it.
  class Charge {
   public:
    explicit Charge(BodyBudget& budget) : budget_(budget) {}
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;
    ~Charge() { budget_.held_ -= bytes_; }
    // False when there is not so much; the charge stays as it was then.
    bool grow_to(std::size_t bytes);

   private:
    BodyBudget& budget_;
    std::size_t bytes_ = 0;
  };

 private:
  std::size_t bytes_max_;
  std::size_t held_ = 0;
};

// Reads to the end, charged by what has arrived and never by what the sender announced. Fails with
// too_large beyond `bytes_max`, with resource_exhausted when the budget, which outlives the task,
// has no more.
Task<Result<std::string>> read_all(Body body, std::size_t bytes_max, BodyBudget& budget);

}  // namespace codeflare::net
