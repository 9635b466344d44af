#include "apiserver/rest/internal/in_flight.h"

#include "apiserver/rest/internal/errors.h"
#include "base/check.h"

namespace codeflare::apiserver::internal {

namespace {

Task<Result<Bytes>> lost() {
  co_return fail(unavailable("the response was not taken, and another request needed its place"));
}

}  // namespace

bool InFlight::take() {
  if (taken_ >= max_ && !cut_longest_untaken()) {
    return false;
  }
  ++taken_;
  gauge_.add();
  return true;
}

void InFlight::give_back() {
  --taken_;
  gauge_.subtract();
}

bool InFlight::cut_longest_untaken() {
  if (responses_.empty() || clock_.now() - responses_.front()->taken_at_ < kUntakenMax) {
    return false;
  }
  responses_.front()->give_up();
  return true;
}

Result<void> RequestSlot::take() {
  if (places_ == nullptr || held_) {
    return {};
  }
  if (!places_->take()) {
    return fail(too_many_requests(
        "the server has received too many requests and has asked us to try again later", 1));
  }
  held_ = true;
  return {};
}

void RequestSlot::give_back() {
  if (std::exchange(held_, false)) {
    places_->give_back();
  }
}

PlacedBody::PlacedBody(net::Body body, RequestSlot place)
    : place_(std::move(place)), body_(std::move(body)) {
  CHECK(place_.held(), "a response without a place");
  InFlight& places = *place_.places_;
  taken_at_ = places.clock_.now();
  position_ = places.responses_.insert(places.responses_.end(), this);
}

PlacedBody::~PlacedBody() {
  if (place_.held()) {
    place_.places_->responses_.erase(position_);
  }
}

Task<Result<Bytes>> PlacedBody::read() {
  if (!place_.held()) {
    return lost();
  }
  InFlight& places = *place_.places_;
  taken_at_ = places.clock_.now();
  places.responses_.splice(places.responses_.end(), places.responses_, position_);
  return body_->read();
}

std::optional<Bytes> PlacedBody::ready() {
  return place_.held() ? body_->ready() : std::nullopt;
}

void PlacedBody::give_up() {
  place_.places_->responses_.erase(position_);
  place_.give_back();
  cut_.request_stop();
}

}  // namespace codeflare::apiserver::internal
