#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "net/byte_queue.h"
#include "net/byte_stream.h"
#include "net/serial_writer.h"
#include "net/spdy.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

namespace codeflare::net {

class SpdySession;

// One stream of a session. Dropping it before its end leaves it to the session to end it.
class SpdyStream final : public ByteStream {
 public:
  static constexpr std::size_t kQueuedBytesMax = 1u << 20;

  SpdyStream(SpdySession& session, std::uint32_t id, Headers headers)
      : session_(session), id_(id), headers_(std::move(headers)) {}

  std::uint32_t id() const { return id_; }
  const Headers& headers() const { return headers_; }

  Task<Result<std::string>> read() override { return input_.pop(); }
  Task<Result<void>> write(std::string bytes) override;
  Task<Result<void>> finish() override;
  // Ends both ways at once.
  Task<Result<void>> reset(std::uint32_t status);
  // Whether the client gave it up; then nobody takes what is written.
  bool was_reset() const { return was_reset_; }
  // Drops all further input.
  void stop_reading() { input_.abandon(); }

 private:
  friend class SpdySession;
  SpdySession& session_;
  std::uint32_t id_;
  Headers headers_;
  ByteQueue input_{kQueuedBytesMax};
  bool input_ended_ = false;
  bool output_ended_ = false;
  bool was_reset_ = false;
};

// The server's side of a SPDY connection: streams that the client opens. run() has to be running
// for anything to come. The transport outlives it, and it outlives the use of its streams.
class SpdySession {
 public:
  static constexpr std::size_t kStreamsMax = 256;

  explicit SpdySession(ByteStream& transport) : transport_(transport), writer_(transport) {}

  // Reads frames until the client is done or gone; then every stream is at its end.
  Task<Result<void>> run();
  // The next stream, after its acceptance was sent; null at the end.
  Task<Result<std::shared_ptr<SpdyStream>>> accept();
  // Says that no more streams are taken; nothing can be written afterwards.
  Task<void> close();

 private:
  friend class SpdyStream;
  Task<Result<void>> send(SpdyFrame frame);
  Task<Result<void>> take(SpdyFrame frame);
  Task<Result<void>> open_stream(SpdyFrame frame);
  void end_input(SpdyStream& stream);
  void forget_if_over(const SpdyStream& stream);

  ByteStream& transport_;
  SerialWriter writer_;
  SpdyDecoder decoder_;
  SpdyEncoder encoder_;
  std::map<std::uint32_t, std::shared_ptr<SpdyStream>> streams_;
  std::deque<std::shared_ptr<SpdyStream>> opened_;
  WaitList changed_;
  std::uint32_t last_stream_ = 0;
  bool over_ = false;
};

}  // namespace codeflare::net
