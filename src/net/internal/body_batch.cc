#include "net/internal/body_batch.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace codeflare::net::internal {

namespace {

constexpr std::size_t kBatchBytes = 256u << 10;
constexpr std::size_t kKeptBytes = 64;
constexpr std::size_t kKeptPieces = 8;

iovec as_iovec(std::string_view text) {
  return {const_cast<char*>(text.data()), text.size()};
}

}  // namespace

bool BodyBatch::full() const {
  return bytes_ >= kBatchBytes || pieces_.size() >= kPiecesMax;
}

void BodyBatch::add(Bytes piece) {
  if (piece.empty()) {
    ended_ = true;
  } else {
    bytes_ += piece.size();
    pieces_.push_back(std::move(piece));
  }
}

void BodyBatch::add_ready(BodyStream& body) {
  while (!ended_ && !full()) {
    std::optional<Bytes> piece = body.ready();
    if (!piece) {
      break;
    }
    add(*std::move(piece));
  }
}

std::span<iovec> BodyBatch::framed(bool chunked, List& list) {
  std::size_t count = 0;
  if (!before_.empty()) {
    list[count++] = as_iovec(before_);
  }
  if (chunked && bytes_ > 0) {
    char* end = std::to_chars(chunk_size_.data(), chunk_size_.data() + 16, bytes_, 16).ptr;
    *end++ = '\r';
    *end++ = '\n';
    list[count++] = as_iovec({chunk_size_.data(), end});
  }
  for (const Bytes& piece : pieces_) {
    list[count++] = as_iovec(piece.view());
  }
  std::string_view after;
  if (chunked) {
    after = bytes_ == 0 ? (ended_ ? "0\r\n\r\n" : "") : (ended_ ? "\r\n0\r\n\r\n" : "\r\n");
  }
  if (!after.empty()) {
    list[count++] = as_iovec(after);
  }
  return {list.data(), count};
}

void BodyBatch::clear() {
  before_.clear();
  bytes_ = 0;
  pieces_.clear();
  if (before_.capacity() > kKeptBytes) {
    before_ = std::string();
  }
  if (pieces_.capacity() > kKeptPieces) {
    pieces_ = std::vector<Bytes>();
  }
}

}  // namespace codeflare::net::internal
