#pragma once

#include "net/http.h"
#include "net/internal/http1.h"
#include "net/internal/real_stream.h"

#include <functional>
#include <string>

namespace codeflare::net::internal {

// Sends a message: `start` (its head) and the body, framed. Pieces that are there together leave in
// one system call. `writing` and `waiting` are called before each write and before each wait for
// the body's producer, so that a stall of the peer can be told from a quiet producer.
Task<Result<void>> write_message(Stream& stream, std::string start, BodyStream* body,
                                 Framing framing, std::function<void()> writing,
                                 std::function<void()> waiting);

}  // namespace codeflare::net::internal
