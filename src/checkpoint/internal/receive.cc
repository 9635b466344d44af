#include "checkpoint/internal/receive.h"

#include "base/async/when.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/refusal.h"

#include <memory>
#include <utility>
#include <vector>
#include <zlib.h>

namespace codeflare::checkpoint::internal {

namespace {

constexpr std::size_t kPieceBytes = 1u << 20;
constexpr std::uint64_t kSpaceCheckBytes = 64u << 20;
constexpr std::uint64_t kWritebackBytes = 8u << 20;

using Pieces = std::vector<Bytes>;

std::uint64_t bytes_of(const Pieces& pieces) {
  std::uint64_t sum = 0;
  for (const Bytes& piece : pieces) {
    sum += piece.size();
  }
  return sum;
}

// About a megabyte of the body; none at its end.
Task<Result<Pieces>> fill(net::BodyStream& body) {
  Pieces pieces;
  std::size_t held = 0;
  while (held < kPieceBytes) {
    CO_TRY_ASSIGN(Bytes piece, co_await body.read());
    if (piece.empty()) {
      break;
    }
    held += piece.size();
    pieces.push_back(std::move(piece));
  }
  co_return pieces;
}

// The file and what is known of its content; used off the loop, one call at a time.
class ChunkWriter {
 public:
  ChunkWriter(FileHandles& handles, const ReceiveOptions& options)
      : handles_(handles), options_(options) {}

  Result<void> open() {
    TRY_ASSIGN(file_, handles_.open_new(options_.path, 0600));
    return {};
  }

  Result<void> write(const Pieces& pieces) {
    for (const Bytes& piece : pieces) {
      TRY(file_->write_at(received_.size, piece.view()));
      received_.crc32c = crc32c(received_.crc32c, piece.view());
      if (options_.crc32) {
        received_.crc32 = static_cast<std::uint32_t>(::crc32_z(
            received_.crc32, reinterpret_cast<const unsigned char*>(piece.data()), piece.size()));
      }
      received_.size += piece.size();
    }
    if (received_.size - begun_ >= kWritebackBytes) {
      file_->begin_writing(begun_, received_.size - begun_);
      begun_ = received_.size;
    }
    return received_.size - checked_ >= kSpaceCheckBytes ? check_space() : Result<void>();
  }

  Result<void> finish() {
    Result<void> synced = file_->sync();
    file_.reset();
    return synced;
  }

  const Received& received() const { return received_; }

 private:
  Result<void> check_space() {
    checked_ = received_.size;
    TRY_ASSIGN(const DiskSpace space, handles_.disk_space(options_.path));
    if (space.free_bytes < options_.free_bytes_min) {
      return fail(
          refuse(507, "DiskFull",
                 "the checkpoint disk has " + std::to_string(space.free_bytes) + " bytes free, " +
                     std::to_string(options_.free_bytes_min) +
                     " must stay free; older checkpoints are kept",
                 {{"freeBytes", space.free_bytes}, {"neededBytes", options_.free_bytes_min}}));
    }
    return {};
  }

  FileHandles& handles_;
  const ReceiveOptions& options_;
  std::unique_ptr<FileHandle> file_;
  Received received_;
  std::uint64_t begun_ = 0;    // writeback was asked for up to here
  std::uint64_t checked_ = 0;  // space was checked at this size
};

Task<Result<void>> write_off_loop(Env env, ChunkWriter& writer, const Pieces& pieces) {
  co_return co_await run_blocking(env, [&] { return writer.write(pieces); });
}

}  // namespace

Task<Result<Received>> receive(Env env, FileHandles& handles, ReceiveOptions options,
                               net::Body body) {
  ChunkWriter writer(handles, options);
  CO_TRY(co_await run_blocking(env, [&] { return writer.open(); }));
  Pieces pieces;
  if (body != nullptr) {
    CO_TRY_ASSIGN(pieces, co_await fill(*body));
  }
  while (!pieces.empty()) {
    CO_TRY(options.charge(bytes_of(pieces)));
    auto [next, written] = co_await when_both(fill(*body), write_off_loop(env, writer, pieces));
    CO_TRY(std::move(written));
    CO_TRY_ASSIGN(pieces, std::move(next));
  }
  CO_TRY(co_await run_blocking(env, [&] { return writer.finish(); }));
  co_return writer.received();
}

}  // namespace codeflare::checkpoint::internal
