#include "net/internal/body_writer.h"

#include <array>
#include <charconv>
#include <span>
#include <utility>
#include <vector>

namespace codeflare::net::internal {

namespace {

constexpr std::size_t kBatchBytes = 256u << 10;
constexpr std::size_t kBatchPieces = 256;
constexpr std::size_t kKeptBytes = 64;
constexpr std::size_t kKeptPieces = 8;

// What leaves in one write.
struct Batch {
  std::string before;  // head, or nothing
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
  // A long wait may follow: what is small is kept for the next time, the rest is not.
  void clear() {
    before.clear();
    bytes = 0;
    pieces.clear();
    if (before.capacity() > kKeptBytes) {
      before = std::string();
    }
    if (pieces.capacity() > kKeptPieces) {
      pieces = std::vector<Bytes>();
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

// What is left of a batch after the first attempt to write it.
struct Left {
  bool prepared = false;      // it is ready and has to be sent
  std::vector<iovec> rest{};  // else this has to be written; it points into the batch
};

// Nearly always there is room for all of it: that way costs no allocation. What comes after a wait
// is made ready only.
Result<Left> write_now(Stream& stream, Batch& batch, bool chunked, bool waited) {
  std::string_view after;
  if (chunked && batch.bytes > 0) {
    append_chunk_size(batch.before, batch.bytes);
    after = batch.ended ? "\r\n0\r\n\r\n" : "\r\n";
  } else if (chunked && batch.ended) {
    after = "0\r\n\r\n";
  }
  std::array<iovec, kBatchPieces + 2> list;
  std::size_t count = 0;
  if (!batch.before.empty()) {
    list[count++] = as_iovec(batch.before);
  }
  for (const Bytes& piece : batch.pieces) {
    list[count++] = as_iovec(piece.view());
  }
  if (!after.empty()) {
    list[count++] = as_iovec(after);
  }
  std::span<iovec> rest(list.data(), count);
  if (waited) {
    TRY_ASSIGN(const bool prepared, stream.prepare(rest));
    if (prepared) {
      return Left{.prepared = true};
    }
  }
  TRY(stream.write_some(rest));
  return Left{.rest = std::vector<iovec>(rest.begin(), rest.end())};
}

}  // namespace

Task<Result<void>> write_message(Stream& stream, std::string start, BodyStream* body,
                                 Framing framing, std::function<void()> writing,
                                 std::function<void()> waiting) {
  bool chunked = framing.kind == Framing::Kind::chunked;
  std::uint64_t total = 0;
  bool ended = framing.kind == Framing::Kind::none;
  bool first = true;
  Batch batch;
  batch.before = std::move(start);
  while (first || !ended) {
    batch.ended = ended || body == nullptr;
    const bool waited = !batch.ended && !first;
    if (!batch.ended) {
      if (waited) {
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
    CO_TRY_ASSIGN(Left left, write_now(stream, batch, chunked, waited));
    if (left.prepared) {
      co_await yield();
    }
    while (left.prepared) {
      CO_TRY_ASSIGN(Io io, stream.send_prepared());
      left.prepared = io.wants();
      if (left.prepared) {
        CO_TRY(co_await stream.socket().wanted(io));
      }
    }
    if (!left.rest.empty()) {
      CO_TRY(co_await stream.write(std::span<iovec>(left.rest)));
    }
    batch.clear();
  }
  co_return Result<void>();
}

}  // namespace codeflare::net::internal
