#pragma once

#include "net/http.h"
#include "net/internal/fan_out.h"
#include "net/internal/http1.h"
#include "net/internal/real_stream.h"

#include <functional>
#include <string>

namespace codeflare::net::internal {

struct Message {
  std::string start;           // its head
  BodyStream* body = nullptr;  // null: none
  Framing framing{};
  FanOut* fan_out = nullptr;  // for bodies that many receive at the same moment
};

// Sends a message, its body framed. Pieces that are there together leave in one system call.
// `writing` and `waiting` are called before each write and before each wait for the body's
// producer, to distinguish a stalled peer from a quiet producer.
Task<Result<void>> write_message(Stream& stream, Message message, std::function<void()> writing,
                                 std::function<void()> waiting);

}  // namespace codeflare::net::internal
