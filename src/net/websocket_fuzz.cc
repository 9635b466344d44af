#include "base/check.h"
#include "net/websocket.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace codeflare;
using namespace codeflare::net;

namespace {

constexpr std::size_t kBytesMax = 4096;

struct Outcome {
  std::vector<WebSocketMessage> messages;
  bool broken = false;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome read(std::string_view bytes, std::size_t step, WebSocketSide side) {
  WebSocketReader reader(kBytesMax, side);
  Outcome outcome;
  while (!bytes.empty()) {
    reader.add(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    for (;;) {
      auto next = reader.next();
      if (!next) {
        outcome.broken = true;
        return outcome;
      }
      if (!*next) {
        break;
      }
      CHECK((*next)->payload.size() <= kBytesMax);
      CHECK((*next)->opcode != WebSocketOpcode::continuation);
      outcome.messages.push_back(**std::move(next));
    }
  }
  return outcome;
}

}  // namespace

// However the bytes arrive, the messages are the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const WebSocketSide side : {WebSocketSide::server, WebSocketSide::client}) {
    const Outcome whole = read(bytes, size + 1, side);
    CHECK(whole == read(bytes, 1, side));
    CHECK(whole == read(bytes, 7, side));
  }
  // A close message that may be sent is read back; nothing else is taken for one.
  if (const auto close = parse_websocket_close(bytes); close && !bytes.empty()) {
    CHECK(websocket_close_payload(close->code, close->reason) == bytes.substr(0, 125));
  }
  // A frame of ours is a message to the other side.
  const std::string_view payload = bytes.substr(0, kBytesMax);
  const auto opcode = WebSocketOpcode::binary;
  const std::vector<WebSocketMessage> sent = {{opcode, std::string(payload)}};
  CHECK(read(websocket_frame(opcode, payload), 5, WebSocketSide::client).messages == sent);
  const auto mask = static_cast<std::uint32_t>(size * 2654435761u);
  CHECK(read(websocket_masked_frame(opcode, payload, mask), 5, WebSocketSide::server).messages ==
        sent);
  return 0;
}
