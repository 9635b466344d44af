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

// Masks or unmasks; `mask` has kMaskBytes.
void apply_mask(std::string& payload, std::string_view mask) {
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(payload[i] ^ mask[i % kMaskBytes]);
  }
}

// The head of a whole message in one frame, without a mask.
std::string frame_head(WebSocketOpcode opcode, std::size_t payload, bool masked) {
  std::string out;
  const int mark = masked ? 0x80 : 0;
  out.push_back(static_cast<char>(0x80 | std::to_underlying(opcode)));
  if (payload <= kControlBytesMax) {
    out.push_back(static_cast<char>(mark | static_cast<int>(payload)));
  } else if (payload <= 0xffff) {
    out.push_back(static_cast<char>(mark | 126));
    append_big_endian(out, payload, 2);
  } else {
    out.push_back(static_cast<char>(mark | 127));
    append_big_endian(out, payload, 8);
  }
  return out;
}

// Of RFC 6455 section 7.4 and the registry since; the rest is reserved or never sent.
bool may_be_sent(std::uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
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
  const bool masked = (second & 0x80) != 0;
  if (masked != (side_ == WebSocketSide::server)) {
    return fail(
        invalid_argument(masked ? "a server's frame is masked" : "a client's frame is not masked"));
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
              .size = 2 + more + (masked ? kMaskBytes : 0),
              .masked = masked,
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
    std::string payload = pending_.substr(found->size, found->payload);
    if (found->masked) {
      apply_mask(payload, pending_.substr(found->size - kMaskBytes, kMaskBytes));
    }
    pending_.erase(0, found->size + found->payload);
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
  return frame_head(opcode, payload.size(), false).append(payload);
}

std::string websocket_masked_frame(WebSocketOpcode opcode, std::string_view payload,
                                   std::uint32_t mask) {
  std::string mask_bytes;
  append_big_endian(mask_bytes, mask, kMaskBytes);
  std::string masked(payload);
  apply_mask(masked, mask_bytes);
  return frame_head(opcode, payload.size(), true).append(mask_bytes).append(masked);
}

std::string websocket_close_payload(std::uint16_t code, std::string_view reason) {
  std::string out;
  append_big_endian(out, code, 2);
  out.append(reason.substr(0, kControlBytesMax - 2));
  return out;
}

Result<WebSocketClose> parse_websocket_close(std::string_view payload) {
  if (payload.empty()) {
    return WebSocketClose{.code = kWebSocketNoStatus};
  }
  if (payload.size() < 2) {
    return fail(invalid_argument("a close message of one byte"));
  }
  const auto code = static_cast<std::uint16_t>(big_endian(payload.substr(0, 2)));
  if (!may_be_sent(code)) {
    return fail(invalid_argument("close code " + std::to_string(code) + " must not be sent"));
  }
  return WebSocketClose{.code = code, .reason = std::string(payload.substr(2))};
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
  // It cannot fail for a digest that is always there; an empty proof would only be rejected.
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

std::string websocket_key(Random& random) {
  std::string bytes;
  append_big_endian(bytes, random.next(), kKeyBytes / 2);
  append_big_endian(bytes, random.next(), kKeyBytes / 2);
  return to_base64(bytes);
}

void add_websocket_handshake(Request& request, std::string_view key,
                             const std::vector<std::string>& protocols) {
  request.headers.set("Connection", "Upgrade");
  request.headers.set("Upgrade", "websocket");
  request.headers.set("Sec-WebSocket-Version", "13");
  request.headers.set("Sec-WebSocket-Key", std::string(key));
  for (const std::string& protocol : protocols) {
    request.headers.add("Sec-WebSocket-Protocol", protocol);
  }
}

Result<std::string> websocket_chosen_protocol(const Response& response, std::string_view key,
                                              const std::vector<std::string>& offered) {
  const Headers& headers = response.headers;
  if (response.status != 101 || !has_word(headers, "Upgrade", "websocket")) {
    return fail(internal_error("the server's answer is not a WebSocket handshake"));
  }
  if (headers.get("Sec-WebSocket-Accept").value_or("") != websocket_accept(key)) {
    return fail(internal_error("the server did not prove that it read the WebSocket key"));
  }
  if (headers.has("Sec-WebSocket-Extensions")) {
    return fail(internal_error("the server uses a WebSocket extension that was not offered"));
  }
  const std::vector<std::string> chosen = header_words(headers, "Sec-WebSocket-Protocol");
  if (chosen.empty()) {
    return std::string();
  }
  if (chosen.size() > 1 || std::ranges::find(offered, chosen.front()) == offered.end()) {
    return fail(internal_error("the server chose a WebSocket protocol that was not offered"));
  }
  return chosen.front();
}

}  // namespace codeflare::net
