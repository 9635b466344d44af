#pragma once

#include "base/bytes.h"
#include "net/http.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace codeflare::kube::internal {

// The pieces of a request's body, kept so that it can be sent again.
struct HeldBody {
  std::vector<Bytes> pieces;
  bool whole = true;  // otherwise `rest` has more, once
  net::Body rest;

  // A body with the same bytes: any number of times when whole, else once.
  net::Body stream();
};

// Takes in the body as far as it is at hand, or as a whole when its size is known; stops at
// `bytes_max`. An error is that of the body.
Task<Result<HeldBody>> hold_body(net::Body body, std::optional<std::size_t> body_size,
                                 std::size_t bytes_max);

// `body` that also keeps `owner` alive; null stays null, an upgraded connection stays one.
net::Body body_with_owner(net::Body body, std::shared_ptr<void> owner);

}  // namespace codeflare::kube::internal
