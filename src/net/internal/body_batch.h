#pragma once

#include "base/bytes.h"
#include "net/http.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <sys/uio.h>
#include <vector>

namespace codeflare::net::internal {

// The pieces of a body that leave in one write.
class BodyBatch {
 public:
  BodyBatch() = default;
  // `before` goes ahead of the first pieces: the head of a message.
  explicit BodyBatch(std::string before) : before_(std::move(before)) {}

  std::size_t bytes() const { return bytes_; }
  bool ended() const { return ended_; }
  bool empty() const { return pieces_.empty() && !ended_; }

  // An empty piece is the end.
  void add(Bytes piece);
  // Adds the pieces that are ready, within a bound.
  void add_ready(BodyStream& body);
  void end() { ended_ = true; }

  static constexpr std::size_t kPiecesMax = 256;
  using List = std::array<iovec, kPiecesMax + 3>;
  // The whole as it goes out, with the frame of a chunk. Points into the batch.
  std::span<iovec> framed(bool chunked, List& list);

  // Without the end. A long wait may follow: what is small is kept for the next time, the rest is
  // not.
  void clear();

 private:
  bool full() const;

  std::string before_;
  std::vector<Bytes> pieces_;
  std::array<char, 20> chunk_size_;
  std::size_t bytes_ = 0;
  bool ended_ = false;
};

}  // namespace codeflare::net::internal
