#include "net/spdy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <zlib.h>

namespace codeflare::net {

namespace {

constexpr std::size_t kHeadBytes = 8;
constexpr std::uint16_t kVersion = 3;
constexpr std::uint32_t kStreamMask = 0x7fffffff;
constexpr std::uint8_t kFin = 1;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size = 4) {
  std::uint32_t value = 0;
  for (char c : bytes.substr(at, size)) {
    value = value << 8 | static_cast<std::uint8_t>(c);
  }
  return value;
}

void append_number(std::string& out, std::uint32_t value, int bytes = 4) {
  for (int i = bytes; i-- > 0;) {
    out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
}

std::string control_frame(SpdyType type, std::uint8_t flags, std::string_view payload) {
  std::string out;
  append_number(out, 0x8000u | kVersion, 2);
  append_number(out, std::to_underlying(type), 2);
  append_number(out, flags, 1);
  append_number(out, static_cast<std::uint32_t>(payload.size()), 3);
  return out.append(payload);
}

Bytef* zlib_bytes(const char* data) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(data));
}

// Takes a length and that many bytes off the front.
Result<std::string_view> take_text(std::string_view& block) {
  if (block.size() < 4) {
    return fail(invalid_argument("a header block breaks off"));
  }
  const std::uint32_t size = number_at(block, 0);
  block.remove_prefix(4);
  if (size > block.size()) {
    return fail(invalid_argument("a header block breaks off"));
  }
  const std::string_view text = block.substr(0, size);
  block.remove_prefix(size);
  return text;
}

Result<Headers> parse_headers(std::string_view block) {
  if (block.size() < 4) {
    return fail(invalid_argument("a header block breaks off"));
  }
  const std::uint32_t count = number_at(block, 0);
  block.remove_prefix(4);
  Headers headers;
  for (std::uint32_t i = 0; i < count; ++i) {
    TRY_ASSIGN(const std::string_view name, take_text(block));
    TRY_ASSIGN(const std::string_view value, take_text(block));
    headers.add(std::string(name), std::string(value));
  }
  return headers;
}

}  // namespace

struct SpdyDecoder::Inflater {
  Inflater() { usable = inflateInit(&zlib) == Z_OK; }
  ~Inflater() { inflateEnd(&zlib); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The content of one block; the next goes on where it ended.
  Result<std::string> inflate_block(std::string_view block) {
    std::string out;
    zlib.next_in = zlib_bytes(block.data());
    zlib.avail_in = static_cast<uInt>(block.size());
    std::array<char, 4096> buffer;
    while (usable) {
      zlib.next_out = zlib_bytes(buffer.data());
      zlib.avail_out = static_cast<uInt>(buffer.size());
      const int result = inflate(&zlib, Z_SYNC_FLUSH);
      if (result == Z_NEED_DICT) {
        const std::string& dictionary = spdy_dictionary();
        usable = inflateSetDictionary(&zlib, zlib_bytes(dictionary.data()),
                                      static_cast<uInt>(dictionary.size())) == Z_OK;
        continue;
      }
      // Without any progress left to make it says Z_BUF_ERROR, which is fine.
      if (result != Z_OK && result != Z_BUF_ERROR) {
        usable = false;
        break;
      }
      out.append(buffer.data(), buffer.size() - zlib.avail_out);
      if (out.size() > kSpdyHeaderBytesMax) {
        usable = false;
        return fail(
            too_large("headers of more than " + std::to_string(kSpdyHeaderBytesMax) + " bytes"));
      }
      if (zlib.avail_in == 0 && zlib.avail_out != 0) {
        return out;
      }
      if (result == Z_BUF_ERROR) {
        usable = false;
      }
    }
    return fail(invalid_argument("headers are not compressed as they should be"));
  }

  z_stream zlib{};
  bool usable = false;
};

SpdyDecoder::SpdyDecoder() : inflater_(std::make_unique<Inflater>()) {}
SpdyDecoder::~SpdyDecoder() = default;

Result<Headers> SpdyDecoder::read_headers(std::string_view block) {
  TRY_ASSIGN(const std::string text, inflater_->inflate_block(block));
  return parse_headers(text);
}

// Nothing for types that are not known.
Result<std::optional<SpdyFrame>> SpdyDecoder::control(std::string_view payload, std::uint16_t type,
                                                      std::uint8_t flags) {
  SpdyFrame frame{.type = static_cast<SpdyType>(type)};
  const auto needs = [&](std::size_t bytes) -> Result<void> {
    if (payload.size() < bytes) {
      return fail(invalid_argument("a frame of type " + std::to_string(type) + " breaks off"));
    }
    return {};
  };
  switch (frame.type) {
    case SpdyType::syn_stream: {
      TRY(needs(10));
      frame.fin = (flags & kFin) != 0;
      frame.stream = number_at(payload, 0) & kStreamMask;
      TRY_ASSIGN(frame.headers, read_headers(payload.substr(10)));
      return frame;
    }
    case SpdyType::syn_reply:
    case SpdyType::headers: {
      TRY(needs(4));
      frame.fin = (flags & kFin) != 0;
      frame.stream = number_at(payload, 0) & kStreamMask;
      TRY_ASSIGN(frame.headers, read_headers(payload.substr(4)));
      return frame;
    }
    case SpdyType::rst_stream:
    case SpdyType::goaway:
    case SpdyType::window_update: {
      TRY(needs(8));
      frame.stream = number_at(payload, 0) & kStreamMask;
      frame.value = number_at(payload, 4);
      return frame;
    }
    case SpdyType::ping: {
      TRY(needs(4));
      frame.value = number_at(payload, 0);
      return frame;
    }
    case SpdyType::settings:
      return frame;
    case SpdyType::data:
      break;
  }
  return std::nullopt;
}

Result<std::optional<SpdyFrame>> SpdyDecoder::next() {
  for (;;) {
    if (pending_.size() < kHeadBytes) {
      return std::nullopt;
    }
    const bool is_control = (number_at(pending_, 0, 1) & 0x80) != 0;
    const auto flags = static_cast<std::uint8_t>(number_at(pending_, 4, 1));
    const std::size_t size = number_at(pending_, 5, 3);
    if (size > kSpdyFrameBytesMax) {
      return fail(too_large("a frame of " + std::to_string(size) + " bytes"));
    }
    if (is_control && (number_at(pending_, 0, 2) & 0x7fff) != kVersion) {
      return fail(invalid_argument("not SPDY version 3"));
    }
    if (pending_.size() < kHeadBytes + size) {
      return std::nullopt;
    }
    const std::string head = pending_.substr(0, kHeadBytes);
    std::string payload = pending_.substr(kHeadBytes, size);
    pending_.erase(0, kHeadBytes + size);
    if (!is_control) {
      return SpdyFrame{.fin = (flags & kFin) != 0,
                       .stream = number_at(head, 0) & kStreamMask,
                       .data = std::move(payload)};
    }
    TRY_ASSIGN(std::optional<SpdyFrame> frame,
               control(payload, static_cast<std::uint16_t>(number_at(head, 2, 2)), flags));
    if (frame) {
      return frame;
    }
  }
}

struct SpdyEncoder::Deflater {
  Deflater() {
    const std::string& dictionary = spdy_dictionary();
    usable = deflateInit(&zlib, Z_DEFAULT_COMPRESSION) == Z_OK &&
             deflateSetDictionary(&zlib, zlib_bytes(dictionary.data()),
                                  static_cast<uInt>(dictionary.size())) == Z_OK;
  }
  ~Deflater() { deflateEnd(&zlib); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  z_stream zlib{};
  bool usable = false;
};

SpdyEncoder::SpdyEncoder() : deflater_(std::make_unique<Deflater>()) {}
SpdyEncoder::~SpdyEncoder() = default;

Result<std::string> SpdyEncoder::write_headers(const Headers& headers) {
  std::string block;
  append_number(block, static_cast<std::uint32_t>(headers.fields().size()));
  for (const Headers::Field& field : headers.fields()) {
    append_number(block, static_cast<std::uint32_t>(field.name.size()));
    for (char c : field.name) {
      block.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
    append_number(block, static_cast<std::uint32_t>(field.value.size()));
    block.append(field.value);
  }
  z_stream& zlib = deflater_->zlib;
  zlib.next_in = zlib_bytes(block.data());
  zlib.avail_in = static_cast<uInt>(block.size());
  std::string out;
  std::array<char, 4096> buffer;
  do {
    zlib.next_out = zlib_bytes(buffer.data());
    zlib.avail_out = static_cast<uInt>(buffer.size());
    const int result = deflater_->usable ? deflate(&zlib, Z_SYNC_FLUSH) : Z_STREAM_ERROR;
    if (result != Z_OK && result != Z_BUF_ERROR) {
      deflater_->usable = false;
      return fail(internal_error("headers cannot be compressed"));
    }
    out.append(buffer.data(), buffer.size() - zlib.avail_out);
  } while (zlib.avail_out == 0);
  return out;
}

Result<std::string> SpdyEncoder::encode(const SpdyFrame& frame) {
  const std::uint8_t flags = frame.fin ? kFin : 0;
  std::string payload;
  switch (frame.type) {
    case SpdyType::data: {
      std::string out;
      append_number(out, frame.stream);
      append_number(out, flags, 1);
      append_number(out, static_cast<std::uint32_t>(frame.data.size()), 3);
      return out.append(frame.data);
    }
    case SpdyType::syn_stream:
    case SpdyType::syn_reply:
    case SpdyType::headers: {
      append_number(payload, frame.stream);
      if (frame.type == SpdyType::syn_stream) {
        append_number(payload, 0);     // belongs to no other stream
        append_number(payload, 0, 2);  // highest priority, no credential
      }
      TRY_ASSIGN(const std::string block, write_headers(frame.headers));
      return control_frame(frame.type, flags, payload.append(block));
    }
    case SpdyType::rst_stream:
    case SpdyType::goaway:
    case SpdyType::window_update:
      append_number(payload, frame.stream);
      append_number(payload, frame.value);
      break;
    case SpdyType::ping:
      append_number(payload, frame.value);
      break;
    case SpdyType::settings:
      append_number(payload, 0);
      break;
  }
  return control_frame(frame.type, 0, payload);
}

}  // namespace codeflare::net
