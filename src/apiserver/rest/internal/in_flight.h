#pragma once

#include "base/async/stop_token.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/time.h"
#include "net/cut_body.h"
#include "net/http.h"

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace codeflare::apiserver::internal {

class PlacedBody;

// The places for requests in flight. Shared with the bodies of responses, which may be read after
// the service is gone; gauge and clock outlive them.
//
// A place is kept until the last byte of the response is on its way: so much is in memory at a
// time. Clients that take nothing would keep all of them. So when there is none left, the response
// of which nothing was taken for longest is cut, once that is longer than kUntakenMax.
class InFlight {
 public:
  static constexpr Duration kUntakenMax = std::chrono::seconds(1);

  InFlight(std::size_t max, Gauge& gauge, const Clock& clock)
      : max_(max), gauge_(gauge), clock_(clock) {}
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // False when none is free.
  bool take();
  void give_back();

 private:
  friend class PlacedBody;
  bool cut_longest_untaken();

  std::size_t max_;
  Gauge& gauge_;
  const Clock& clock_;
  std::size_t taken_ = 0;
  std::list<PlacedBody*> responses_;  // those of which nothing was taken for longest come first
};

// The place of one request, given back at the end. While its body is on the way a request holds
// none: clients that never send the rest would hold all of them.
class RequestSlot {
 public:
  RequestSlot() = default;  // of a request that is not counted: it needs none
  explicit RequestSlot(std::shared_ptr<InFlight> places) : places_(std::move(places)) {}
  RequestSlot(RequestSlot&& other) noexcept
      : places_(std::move(other.places_)), held_(std::exchange(other.held_, false)) {}
  RequestSlot& operator=(RequestSlot&&) = delete;
  ~RequestSlot() { give_back(); }

  // 429 when none is free.
  Result<void> take();
  void give_back();
  bool held() const { return held_; }

 private:
  friend class PlacedBody;
  std::shared_ptr<InFlight> places_;
  bool held_ = false;
};

// The body of a response with its request's place, which must be held.
class PlacedBody final : public net::CutBody {
 public:
  PlacedBody(net::Body body, RequestSlot place);
  ~PlacedBody() override;

  // Writers ask here for the next part when the last one has been taken.
  Task<Result<Bytes>> read() override;
  std::optional<Bytes> ready() override;
  bool tell(net::BodyListener* listener) override { return body_->tell(listener); }

  // Stops when somebody else gets the place.
  StopToken cut() const override { return cut_.token(); }

 private:
  friend class InFlight;
  void give_up();

  RequestSlot place_;
  net::Body body_;
  StopSource cut_;
  Instant taken_at_;
  std::list<PlacedBody*>::iterator position_;  // unless it is cut
};

}  // namespace codeflare::apiserver::internal
