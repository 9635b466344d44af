#include "base/check.h"
#include "net/spdy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare;
using namespace codeflare::net;

namespace {

// All that is known about what was read, in one text.
std::string read(std::string_view bytes, std::size_t step) {
  SpdyDecoder decoder;
  std::string seen;
  while (!bytes.empty()) {
    decoder.add(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    for (;;) {
      auto next = decoder.next();
      if (!next) {
        return seen + "broken";
      }
      if (!*next) {
        break;
      }
      const SpdyFrame& frame = **next;
      CHECK(frame.data.size() <= kSpdyFrameBytesMax);
      seen += std::to_string(static_cast<int>(frame.type)) + (frame.fin ? "f" : "") + " " +
              std::to_string(frame.stream) + " " + std::to_string(frame.value) + " " + frame.data;
      for (const Headers::Field& field : frame.headers.fields()) {
        seen += field.name + "=" + field.value + ";";
      }
    }
  }
  return seen;
}

// The rest after a head that the input only has to fill: most random heads are rejected at once.
std::string framed(std::string_view bytes) {
  std::string out = {'\x80', '\x03', '\x00', '\x01', '\x00'};
  const std::size_t size = bytes.size() + 10;
  out.push_back(static_cast<char>(size >> 16 & 0xff));
  out.push_back(static_cast<char>(size >> 8 & 0xff));
  out.push_back(static_cast<char>(size & 0xff));
  out.append("\0\0\0\x01\0\0\0\0\0\0", 10);
  return out.append(bytes);
}

}  // namespace

// However the bytes arrive, the frames are the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CHECK(read(bytes, size + 1) == read(bytes, 3));
  if (size < 60000) {
    const std::string whole = framed(bytes);
    CHECK(read(whole, whole.size()) == read(whole, 5));
  }
  // Headers survive the way there and back.
  SpdyEncoder encoder;
  SpdyDecoder decoder;
  if (size < kSpdyHeaderBytesMax / 2) {
    const SpdyFrame frame{
        .type = SpdyType::headers, .stream = 1, .headers = {{"name", std::string(bytes)}}};
    decoder.add(*encoder.encode(frame));
    const auto next = decoder.next();
    CHECK(next && *next && (*next)->headers.get("name") == bytes);
  }
  return 0;
}
