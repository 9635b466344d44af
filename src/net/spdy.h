#pragma once

#include "base/result.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// The framing of SPDY/3.1, as far as clients of Kubernetes use it, without any I/O.
namespace codeflare::net {

enum class SpdyType : std::uint16_t {
  data = 0,  // not a control frame
  syn_stream = 1,
  syn_reply = 2,
  rst_stream = 3,
  settings = 4,
  ping = 6,
  goaway = 7,
  headers = 8,
  window_update = 9,
};

struct SpdyFrame {
  SpdyType type = SpdyType::data;
  bool fin = false;
  // Of goaway the last that was accepted; 0 where a frame is about the whole connection.
  std::uint32_t stream = 0;
  // Status of rst_stream and goaway, id of ping, delta of window_update.
  std::uint32_t value = 0;
  Headers headers{};   // of syn_stream, syn_reply, headers
  std::string data{};  // of data
};

inline constexpr std::uint32_t kSpdyProtocolError = 1;
inline constexpr std::uint32_t kSpdyRefusedStream = 3;
inline constexpr std::uint32_t kSpdyCancel = 5;

inline constexpr std::size_t kSpdyFrameBytesMax = 1u << 20;
inline constexpr std::size_t kSpdyHeaderBytesMax = 64u << 10;

// Takes frames out of bytes. Header blocks share one compression state, so every frame must be
// taken.
class SpdyDecoder {
 public:
  SpdyDecoder();
  ~SpdyDecoder();
  SpdyDecoder(const SpdyDecoder&) = delete;
  SpdyDecoder& operator=(const SpdyDecoder&) = delete;

  void add(std::string_view bytes) { pending_.append(bytes); }
  // Nothing until a frame is complete; an error is for good. Frames of unknown types are passed
  // over.
  Result<std::optional<SpdyFrame>> next();

 private:
  struct Inflater;
  Result<std::optional<SpdyFrame>> control(std::string_view payload, std::uint16_t type,
                                           std::uint8_t flags);
  Result<Headers> read_headers(std::string_view block);

  std::string pending_;
  std::unique_ptr<Inflater> inflater_;
};

// Puts frames into bytes; in the order of the calls, because of the shared compression state.
class SpdyEncoder {
 public:
  SpdyEncoder();
  ~SpdyEncoder();
  SpdyEncoder(const SpdyEncoder&) = delete;
  SpdyEncoder& operator=(const SpdyEncoder&) = delete;

  Result<std::string> encode(const SpdyFrame& frame);

 private:
  struct Deflater;
  Result<std::string> write_headers(const Headers& headers);

  std::unique_ptr<Deflater> deflater_;
};

// The initial dictionary of both sides' compressors.
const std::string& spdy_dictionary();

}  // namespace codeflare::net
