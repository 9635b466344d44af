#include "base/check.h"
#include "net/websocket.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

Outcome read(std::string_view bytes, std::size_t step) {
  WebSocketReader reader(kBytesMax);
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
  const Outcome whole = read(bytes, size + 1);
  CHECK(whole == read(bytes, 1));
  CHECK(whole == read(bytes, 7));
  return 0;
}
