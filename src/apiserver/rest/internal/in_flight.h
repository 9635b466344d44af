#pragma once

#include "apiserver/rest/internal/errors.h"
#include "base/metrics.h"
#include "base/result.h"

#include <cstddef>
#include <memory>
#include <utility>

namespace codeflare::apiserver::internal {

// The places for requests in flight. Shared with the bodies of responses, which may be read after
// the service is gone.
struct InFlight {
  std::size_t max;
  Gauge& gauge;
  std::size_t taken = 0;
};

// The place of one request, given back at the end. While its body is on the way a request holds
// none: clients that never send the rest would hold all of them.
class Place {
 public:
  Place() = default;  // of a request that is not counted: it needs none
  explicit Place(std::shared_ptr<InFlight> places) : places_(std::move(places)) {}
  Place(Place&& other) noexcept
      : places_(std::move(other.places_)), held_(std::exchange(other.held_, false)) {}
  Place& operator=(Place&&) = delete;
  ~Place() { give_back(); }

  // 429 when none is free.
  Result<void> take() {
    if (places_ == nullptr || held_) {
      return {};
    }
    if (places_->taken >= places_->max) {
      return fail(too_many_requests(
          "the server has received too many requests and has asked us to try again later", 1));
    }
    ++places_->taken;
    places_->gauge.add();
    held_ = true;
    return {};
  }
  void give_back() {
    if (std::exchange(held_, false)) {
      --places_->taken;
      places_->gauge.subtract();
    }
  }
  bool held() const { return held_; }

 private:
  std::shared_ptr<InFlight> places_;
  bool held_ = false;
};

}  // namespace codeflare::apiserver::internal
