#include "net/gzip.h"

#include "base/check.h"

#include <algorithm>
#include <array>
#include <utility>
#include <zlib.h>

namespace codeflare::net {

namespace {

constexpr std::size_t kPieceSize = 64u << 10;
// 15 is the largest window; 16 more selects the gzip wrapper.
constexpr int kGzipWindow = 15 + 16;

class GunzipBody final : public BodyStream {
 public:
  explicit GunzipBody(Body inner) : inner_(std::move(inner)) {
    ready_to_inflate_ = inflateInit2(&zlib_, kGzipWindow) == Z_OK;
  }
  ~GunzipBody() override {
    if (ready_to_inflate_) {
      inflateEnd(&zlib_);
    }
  }

  Task<Result<Bytes>> read() override {
    for (;;) {
      CO_TRY_ASSIGN(Bytes piece, inflate_some());
      if (!piece.empty()) {
        co_return piece;
      }
      if (input_ended_) {
        if (!at_member_end_) {
          co_return fail(data_loss("gzip data breaks off"));
        }
        co_return Bytes();
      }
      CO_TRY_ASSIGN(input_, co_await inner_->read());
      input_ended_ = input_.empty();
    }
  }

 private:
  // Empty when more input is needed.
  Result<Bytes> inflate_some() {
    if (!ready_to_inflate_) {
      return fail(resource_exhausted("no memory to decode gzip"));
    }
    std::string output;
    while ((!input_.empty() || more_output_) && output.empty()) {
      std::array<char, kPieceSize> buffer;
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
      zlib_.avail_in = static_cast<uInt>(std::min(input_.size(), std::size_t{1} << 30));
      zlib_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      zlib_.avail_out = static_cast<uInt>(buffer.size());
      std::size_t offered = zlib_.avail_in;
      int result = inflate(&zlib_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return fail(data_loss("damaged gzip data"));
      }
      input_ = input_.slice(offered - zlib_.avail_in);
      output.assign(buffer.data(), buffer.size() - zlib_.avail_out);
      // A full buffer may have left some output inside zlib, with no input to bring it out.
      more_output_ = zlib_.avail_out == 0 && result != Z_STREAM_END;
      if (result == Z_BUF_ERROR) {
        continue;  // it needs more input than there is
      }
      at_member_end_ = result == Z_STREAM_END;
      // Another member may follow; together they are one stream.
      if (at_member_end_ && inflateReset(&zlib_) != Z_OK) {
        return fail(internal_error("cannot decode gzip"));
      }
    }
    return output.empty() ? Bytes() : Bytes::from(std::move(output));
  }

  Body inner_;
  z_stream zlib_{};
  bool ready_to_inflate_ = false;
  Bytes input_;
  bool input_ended_ = false;
  bool more_output_ = false;
  bool at_member_end_ = true;  // no bytes at all are an empty body
};

}  // namespace

Body gunzip(Body body) {
  return std::make_unique<GunzipBody>(std::move(body));
}

std::string gzip(std::string_view text) {
  z_stream zlib{};
  constexpr int kMemoryLevel = 8;
  CHECK(deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string output(deflateBound(&zlib, static_cast<uLong>(text.size())), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(output.data());
  zlib.avail_out = static_cast<uInt>(output.size());
  CHECK(deflate(&zlib, Z_FINISH) == Z_STREAM_END);  // the bound leaves room for everything
  output.resize(zlib.total_out);
  deflateEnd(&zlib);
  return output;
}

}  // namespace codeflare::net
