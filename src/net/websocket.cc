#include "net/websocket.h"

#include "base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::net {

namespace {

constexpr std::size_t kControlBytesMax = 125;
constexpr std::size_t kMaskBytes = 4;
constexpr std::size_t kKeyBytes = 16;
// Of the protocol: proves that the server has read the key as one.
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (char c : bytes) {
    value = value << 8 | static_cast<std::uint8_t>(c);
  }
  return value;
}

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int i = bytes; i-- > 0;) {
    out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
}

bool is_control(WebSocketOpcode opcode) {
  return std::to_underlying(opcode) >= 8;
}

bool is_known(std::uint8_t opcode) {
  return opcode <= 2 || (opcode >= 8 && opcode <= 10);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool has_word(const Headers& headers, std::string_view name, std::string_view word) {
  return std::ranges::any_of(header_words(headers, name), [&](const std::string& each) {
    return equal_ignoring_case(each, word);
  });
}

}  // namespace

// The head of the next frame; nothing while it is not complete.
Result<std::optional<WebSocketReader::Head>> WebSocketReader::head() const {
  if (pending_.size() < 2) {
    return std::nullopt;
  }
  const std::uint8_t first = byte_at(pending_, 0);
  const std::uint8_t second = byte_at(pending_, 1);
  if ((first & 0x70) != 0 || !is_known(first & 0x0f)) {
    return fail(invalid_argument("a frame uses an extension that was not agreed on"));
  }
  if ((second & 0x80) == 0) {
    return fail(invalid_argument("a client's frame is not masked"));
  }
  const std::uint8_t length = second & 0x7f;
  const std::size_t more = length == 127 ? 8 : length == 126 ? 2 : 0;
  if (pending_.size() < 2 + more) {
    return std::nullopt;
  }
  const std::uint64_t payload =
      more == 0 ? length : big_endian(std::string_view(pending_).substr(2, more));
  // Before any sum that could overflow.
  if (payload > bytes_max_) {
    return fail(too_large("a message of more than " + std::to_string(bytes_max_) + " bytes"));
  }
  return Head{.final = (first & 0x80) != 0,
              .opcode = static_cast<WebSocketOpcode>(first & 0x0f),
              .size = 2 + more + kMaskBytes,
              .payload = static_cast<std::size_t>(payload)};
}

Result<void> WebSocketReader::check(const Head& head) const {
  if (is_control(head.opcode)) {
    if (!head.final || head.payload > kControlBytesMax) {
      return fail(invalid_argument("a control frame is fragmented or too long"));
    }
    return {};
  }
  if ((head.opcode == WebSocketOpcode::continuation) != partial_.has_value()) {
    return fail(invalid_argument(partial_ ? "a message begins inside another"
                                          : "a message goes on that never began"));
  }
  if (partial_ && partial_->payload.size() + head.payload > bytes_max_) {
    return fail(too_large("a message of more than " + std::to_string(bytes_max_) + " bytes"));
  }
  return {};
}

Result<std::optional<WebSocketMessage>> WebSocketReader::next() {
  for (;;) {
    TRY_ASSIGN(const std::optional<Head> found, head());
    if (!found) {
      return std::nullopt;
    }
    TRY(check(*found));
    if (pending_.size() < found->size + found->payload) {
      return std::nullopt;
    }
    const std::string mask = pending_.substr(found->size - kMaskBytes, kMaskBytes);
    std::string payload = pending_.substr(found->size, found->payload);
    pending_.erase(0, found->size + found->payload);
    for (std::size_t i = 0; i < payload.size(); ++i) {
      payload[i] = static_cast<char>(payload[i] ^ mask[i % kMaskBytes]);
    }
    if (is_control(found->opcode)) {
      return WebSocketMessage{found->opcode, std::move(payload)};
    }
    if (!partial_) {
      partial_.emplace(WebSocketMessage{found->opcode, std::move(payload)});
    } else {
      partial_->payload += payload;
    }
    if (found->final) {
      return std::exchange(partial_, std::nullopt);
    }
  }
}

std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + 10);
  out.push_back(static_cast<char>(0x80 | std::to_underlying(opcode)));
  if (payload.size() <= kControlBytesMax) {
    out.push_back(static_cast<char>(payload.size()));
  } else if (payload.size() <= 0xffff) {
    out.push_back(126);
    append_big_endian(out, payload.size(), 2);
  } else {
    out.push_back(127);
    append_big_endian(out, payload.size(), 8);
  }
  out.append(payload);
  return out;
}

std::string websocket_close_payload(std::uint16_t code, std::string_view reason) {
  std::string out;
  append_big_endian(out, code, 2);
  out.append(reason.substr(0, kControlBytesMax - 2));
  return out;
}

std::vector<std::string> header_words(const Headers& headers, std::string_view name) {
  std::vector<std::string> words;
  for (const Headers::Field& field : headers.fields()) {
    if (!equal_ignoring_case(field.name, name)) {
      continue;
    }
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (const std::string_view word = trimmed(rest.substr(0, comma)); !word.empty()) {
        words.emplace_back(word);
      }
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return words;
}

bool asks_for_websocket(const Headers& headers) {
  return has_word(headers, "Connection", "upgrade") && has_word(headers, "Upgrade", "websocket");
}

Result<std::vector<std::string>> websocket_protocols(const Request& request) {
  if (request.method != "GET" || !asks_for_websocket(request.headers)) {
    return fail(invalid_argument("not a WebSocket handshake"));
  }
  if (request.headers.get("Sec-WebSocket-Version").value_or("") != "13") {
    return fail(invalid_argument("WebSocket version 13 is required"));
  }
  const Result<std::string> key =
      from_base64(request.headers.get("Sec-WebSocket-Key").value_or(""));
  if (!key || key->size() != kKeyBytes) {
    return fail(invalid_argument("Sec-WebSocket-Key is not a key"));
  }
  return header_words(request.headers, "Sec-WebSocket-Protocol");
}

std::string websocket_accept(std::string_view key) {
  const std::string proof = std::string(key).append(kGuid);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  // It cannot fail for a digest that is always there; an empty proof would only be refused.
  if (EVP_Digest(proof.data(), proof.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) {
    size = 0;
  }
  return to_base64({reinterpret_cast<const char*>(digest.data()), size});
}

Response websocket_response(const Request& request, std::string_view protocol) {
  Response response{.status = 101};
  response.headers.add("Upgrade", "websocket");
  response.headers.add("Sec-WebSocket-Accept",
                       websocket_accept(request.headers.get("Sec-WebSocket-Key").value_or("")));
  if (!protocol.empty()) {
    response.headers.add("Sec-WebSocket-Protocol", std::string(protocol));
  }
  return response;
}

}  // namespace codeflare::net
