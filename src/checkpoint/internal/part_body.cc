#include "checkpoint/internal/part_body.h"

#include "checkpoint/crc32c.h"

#include <algorithm>
#include <utility>

namespace codeflare::checkpoint::internal {

namespace {

constexpr std::uint64_t kPieceBytes = 1u << 20;

}  // namespace

PartBody::PartBody(Env env, FileHandles& handles, std::vector<Source> sources, ByteRange range,
                   std::shared_ptr<void> hold)
    : env_(env),
      handles_(handles),
      sources_(std::move(sources)),
      range_(range),
      hold_(std::move(hold)),
      position_(range.begin) {
  while (at_ < sources_.size() &&
         sources_[at_].chunk.offset + sources_[at_].chunk.size <= range_.begin) {
    ++at_;
  }
}

Task<Result<Bytes>> PartBody::read() {
  co_return co_await run_blocking(env_, [this] { return next_piece(); });
}

Result<void> PartBody::open_next() {
  TRY_ASSIGN(file_, handles_.open_to_read(sources_[at_].path));
  crc_ = 0;
  whole_ = position_ == sources_[at_].chunk.offset;
  return {};
}

Result<Bytes> PartBody::next_piece() {
  if (position_ >= range_.end) {
    return Bytes();
  }
  while (at_ < sources_.size() && sources_[at_].chunk.size == 0) {
    ++at_;
  }
  if (file_ == nullptr) {
    TRY(open_next());
  }
  const Source& source = sources_[at_];
  const std::uint64_t chunk_end = source.chunk.offset + source.chunk.size;
  const std::uint64_t end = std::min({chunk_end, range_.end, position_ + kPieceBytes});
  std::string piece(end - position_, '\0');
  std::size_t filled = 0;
  while (filled < piece.size()) {
    TRY_ASSIGN(const std::size_t count, file_->read_at(position_ - source.chunk.offset + filled,
                                                       std::span(piece).subspan(filled)));
    if (count == 0) {
      return fail(data_loss(source.path + " ends early"));
    }
    filled += count;
  }
  crc_ = crc32c(crc_, piece);
  position_ = end;
  if (end == chunk_end) {
    if (whole_ && crc_ != source.chunk.crc32c) {
      return fail(data_loss(source.path + " has checksum " + checksum_text(crc_) + ", not " +
                            checksum_text(source.chunk.crc32c)));
    }
    file_.reset();
    ++at_;
  }
  return Bytes::from(std::move(piece));
}

}  // namespace codeflare::checkpoint::internal
