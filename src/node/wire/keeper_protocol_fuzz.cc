#include "base/check.h"
#include "node/wire/keeper_protocol.h"
#include "node/wire/log_lines.h"
#include "node/wire/message.h"
#include "node/wire/stream_protocol.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace codeflare::node;

// A request that parses is written again as the same request.
template <typename T>
void check_as(std::string_view text) {
  if (const auto request = parse_message<T>(text)) {
    const auto again = parse_message<T>(codeflare::model::to_json_text(*request));
    CHECK(again.has_value() && *again == *request);
  }
}

void check_request(std::string_view text) {
  check_as<KeeperRequest>(text);
  check_as<StreamRequest>(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_request(text);
  static_cast<void>(parse_message<KeeperAnswer>(text));
  static_cast<void>(parse_message<StreamAnswer>(text));
  static_cast<void>(parse_message<SandboxSpec>(text));
  static_cast<void>(parse_log_line(text));
  FrameReader reader;
  const std::size_t half = size / 2;
  reader.add(text.substr(0, half));
  while (true) {
    const auto next = reader.next();
    if (!next) {
      return 0;
    }
    if (!*next) {
      break;
    }
    check_request(**next);
  }
  reader.add(text.substr(half));
  for (auto next = reader.next(); next && *next; next = reader.next()) {
    check_request(**next);
  }
  return 0;
}
