#include "up/archive/byte_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>
#include <zlib.h>

namespace codeflare::up {

namespace {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = std::min(into.size(), text_.size());
    std::ranges::copy(text_.substr(0, count), into.begin());
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
};

// Bytes that were read to look at them, then the rest.
class Prefixed final : public ByteSource {
 public:
  Prefixed(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}
  Result<std::size_t> read(std::span<char> into) override {
    if (at_ == prefix_.size()) {
      return rest_->read(into);
    }
    const std::size_t count = std::min(into.size(), prefix_.size() - at_);
    std::memcpy(into.data(), prefix_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string prefix_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), buffer_(std::size_t{64} << 10) {
    ready_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK;
  }
  ~GzipSource() override {
    if (ready_) {
      inflateEnd(&stream_);
    }
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<std::size_t> read(std::span<char> into) override {
    if (!ready_) {
      return fail(internal_error("zlib cannot start"));
    }
    const std::size_t room = std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room && room > 0) {
      TRY_ASSIGN(const bool more, refill());
      if (!more) {
        if (between_) {
          return std::size_t{0};
        }
        return fail(invalid_argument("gzip data are cut off"));
      }
      between_ = false;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        inflateReset(&stream_);
        between_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return fail(invalid_argument("gzip data are damaged"));
      }
    }
    return room - stream_.avail_out;
  }

 private:
  // False at the end.
  Result<bool> refill() {
    if (stream_.avail_in == 0) {
      TRY_ASSIGN(const std::size_t count, packed_->read(buffer_));
      stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_in = static_cast<uInt>(count);
    }
    return stream_.avail_in > 0;
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool ready_ = false;
  bool between_ = false;  // two members, or behind the last
};

}  // namespace

Result<void> read_exactly(ByteSource& source, std::span<char> into, std::string_view what) {
  while (!into.empty()) {
    TRY_ASSIGN(const std::size_t count, source.read(into));
    if (count == 0) {
      return fail(invalid_argument(std::string(what) + " is cut off"));
    }
    into = into.subspan(count);
  }
  return {};
}

std::unique_ptr<ByteSource> text_source(std::string_view text) {
  return std::make_unique<TextSource>(text);
}

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed) {
  std::array<char, 4> first{};
  std::size_t size = 0;
  while (size < first.size()) {
    TRY_ASSIGN(const std::size_t count, packed->read(std::span(first).subspan(size)));
    if (count == 0) {
      break;
    }
    size += count;
  }
  const std::string_view magic(first.data(), size);
  if (magic.starts_with("\x28\xb5\x2f\xfd")) {
    return fail(
        unsupported("layers are packed with zstd; save the image with gzip or without packing"));
  }
  const bool gzip = magic.starts_with("\x1f\x8b");
  std::unique_ptr<ByteSource> whole =
      std::make_unique<Prefixed>(std::string(magic), std::move(packed));
  if (!gzip) {
    return whole;
  }
  return std::make_unique<GzipSource>(std::move(whole));
}

}  // namespace codeflare::up
