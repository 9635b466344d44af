#include "net/internal/body_writer.h"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace codeflare::net::internal {

namespace {

constexpr std::size_t kBatchBytes = 256u << 10;
constexpr std::size_t kBatchPieces = 256;

// What leaves in one write.
struct Batch {
  std::string before;  // head, or the end of the chunk before
  std::vector<Bytes> pieces;
  std::size_t bytes = 0;
  bool ended = false;

  bool full() const { return bytes >= kBatchBytes || pieces.size() >= kBatchPieces; }
  void add(Bytes piece) {
    if (piece.empty()) {
      ended = true;
    } else {
      bytes += piece.size();
      pieces.push_back(std::move(piece));
    }
  }
  void add_ready(BodyStream& body) {
    while (!ended && !full()) {
      std::optional<Bytes> piece = body.ready();
      if (!piece) {
        break;
      }
      add(*std::move(piece));
    }
  }
};

void append_chunk_size(std::string& out, std::size_t size) {
  std::array<char, 20> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  out.append(digits.data(), end).append("\r\n");
}

iovec as_iovec(std::string_view text) {
  return {const_cast<char*>(text.data()), text.size()};
}

Task<Result<void>> write_batch(Stream& stream, Batch batch, bool chunked) {
  std::string_view after;
  if (chunked && batch.bytes > 0) {
    append_chunk_size(batch.before, batch.bytes);
    after = batch.ended ? "\r\n0\r\n\r\n" : "\r\n";
  } else if (chunked && batch.ended) {
    after = "0\r\n\r\n";
  }
  std::vector<iovec> list;
  list.reserve(batch.pieces.size() + 2);
  if (!batch.before.empty()) {
    list.push_back(as_iovec(batch.before));
  }
  for (const Bytes& piece : batch.pieces) {
    list.push_back(as_iovec(piece.view()));
  }
  if (!after.empty()) {
    list.push_back(as_iovec(after));
  }
  co_return co_await stream.write(std::span<iovec>(list));
}

}  // namespace

Task<Result<void>> write_message(Stream& stream, std::string start, BodyStream* body,
                                 Framing framing, std::function<void()> writing,
                                 std::function<void()> waiting) {
  bool chunked = framing.kind == Framing::Kind::chunked;
  std::uint64_t total = 0;
  bool ended = framing.kind == Framing::Kind::none;
  bool first = true;
  while (first || !ended) {
    Batch batch;
    batch.before = std::exchange(start, std::string());
    batch.ended = ended || body == nullptr;
    if (!batch.ended) {
      if (!first) {
        waiting();
        CO_TRY_ASSIGN(Bytes piece, co_await body->read());
        batch.add(std::move(piece));
      }
      batch.add_ready(*body);
    }
    first = false;
    ended = batch.ended;
    total += batch.bytes;
    if (framing.kind == Framing::Kind::sized &&
        (total > framing.size || (ended && total < framing.size))) {
      co_return fail(internal_error("body has " + std::to_string(total) + " bytes instead of " +
                                    std::to_string(framing.size)));
    }
    // A sized body is over when its bytes are; its stream need not be asked for the end.
    ended |= framing.kind == Framing::Kind::sized && total == framing.size;
    writing();
    CO_TRY(co_await write_batch(stream, std::move(batch), chunked));
  }
  co_return Result<void>();
}

}  // namespace codeflare::net::internal
